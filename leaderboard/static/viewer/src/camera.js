/* One camera as plain numbers: what it looks at, from where, and how much of it. Viewers that are
   synchronised share one of these, so their pictures cannot differ. z is up, unless y is. */

const FIELD = (30 * Math.PI) / 180; // angle of view across the smaller side of the picture
const MARGIN = 1.1; // room around what it shows
const HOME = { azimuth: -Math.PI / 3, elevation: Math.PI / 7 };
export const VIEWS = {
  reset: HOME,
  top: { azimuth: -Math.PI / 2, elevation: Math.PI / 2 },
  front: { azimuth: -Math.PI / 2, elevation: 0 },
  side: { azimuth: 0, elevation: 0 },
};
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export class Camera {
  constructor() {
    this.target = [0, 0, 0];
    this.size = 10; // world units across the smaller side of the picture, at the target
    this.parallel = false;
    this.yUp = false; // as in glTF; then x stays and what is drawn along y stands upright
    this.touched = false; // has a person moved it? then a late model does not move it again
    this.points = []; // everything it should show, [x, y, z] in the shared frame
    this.listeners = new Set();
    Object.assign(this, HOME);
  }

  changed() { this.listeners.forEach((tell) => tell()); }

  /* Right, up and back as unit vectors: a right-handed frame, defined at the poles too. */
  basis() {
    const [ca, sa, ce, se] = [Math.cos(this.azimuth), Math.sin(this.azimuth), Math.cos(this.elevation), Math.sin(this.elevation)];
    const upright = ([x, y, z]) => (this.yUp ? [x, z, -y] : [x, y, z]);
    return { right: upright([-sa, ca, 0]), up: upright([-se * ca, -se * sa, ce]), back: upright([ce * ca, ce * sa, se]) };
  }

  /* Everything that turns a point into pixels of a picture `width` × `height`. */
  lens(width, height) {
    const { right, up, back } = this.basis();
    const side = Math.min(width, height);
    const distance = this.size / (2 * Math.tan(FIELD / 2));
    const eye = this.target.map((value, axis) => value + back[axis] * distance);
    return { right, up, back, eye, distance, width, height, parallel: this.parallel, scale: side / this.size, fovY: 2 * Math.atan((height / side) * Math.tan(FIELD / 2)) };
  }

  rotate(dAzimuth, dElevation) {
    this.azimuth = (this.azimuth + dAzimuth) % (2 * Math.PI);
    this.elevation = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.elevation + dElevation));
    this.moved();
  }

  /* Shifts the picture by pixels, as if the target were dragged. */
  pan(dx, dy, lens) {
    this.target = this.target.map((value, axis) => value - (lens.right[axis] * dx - lens.up[axis] * dy) / lens.scale);
    this.moved();
  }

  zoom(factor) {
    this.size = Math.max(1e-6, Math.min(1e9, this.size / factor));
    this.moved();
  }

  moved() { this.touched = true; this.changed(); }

  view(name, width, height) {
    Object.assign(this, VIEWS[name]);
    this.fit(width, height);
    this.touched = name !== "reset";
  }

  /* Looks at every point, from where it stands, with a margin. */
  fit(width, height) {
    if (this.points.length) {
      const { right, up, back } = this.basis();
      const [x, y, z] = [right, up, back].map((axis) => middle(this.points, axis));
      this.target = [0, 1, 2].map((k) => x * right[k] + y * up[k] + z * back[k]);
      const side = Math.min(width, height) || 1;
      const slope = Math.tan(FIELD / 2);
      // The nearer a point, the more room it needs: the eye stands back by its depth, and by its
      // reach sideways and upwards.
      let distance = 0;
      for (const point of this.points) {
        const across = (Math.abs(dot(point, right) - x) * side) / (width || 1);
        const upwards = (Math.abs(dot(point, up) - y) * side) / (height || 1);
        distance = Math.max(distance, dot(point, back) - z + (MARGIN * Math.max(across, upwards)) / slope);
      }
      this.size = 2 * slope * distance || 1;
    }
    this.changed();
  }
}

/* The middle of what points cover along a unit vector. */
function middle(points, axis) {
  let [low, high] = [Infinity, -Infinity];
  for (const point of points) {
    const along = dot(point, axis);
    if (along < low) low = along;
    if (along > high) high = along;
  }
  return (low + high) / 2;
}

/* A point -> [x, y, depth] in pixels, y down; depth <= 0 is behind the eye. */
export function project(lens, point) {
  const from = [point[0] - lens.eye[0], point[1] - lens.eye[1], point[2] - lens.eye[2]];
  const depth = -dot(from, lens.back);
  const scale = lens.parallel ? lens.scale : (lens.scale * lens.distance) / depth;
  return [lens.width / 2 + dot(from, lens.right) * scale, lens.height / 2 - dot(from, lens.up) * scale, depth];
}

/* The longest bar of 1, 2 or 5 times a power of ten that is at most `pixels` long: {length, pixels}. */
export function scaleBar(lens, pixels) {
  const most = pixels / lens.scale;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((step) => step * power).find((value) => value <= most * (1 + 1e-9)) ?? power;
  return { length, pixels: length * lens.scale };
}

const groups = new Map();
/* The camera of a synchronised group; without a name, one's own. `origin` of the first member is the group's frame. */
export function sharedCamera(name, origin) {
  if (!name) return { camera: new Camera(), origin };
  if (!groups.has(name)) groups.set(name, { camera: new Camera(), origin });
  return groups.get(name);
}
