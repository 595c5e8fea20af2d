"""Rankings in another form, at their addresses of before and of now."""

import hashlib
import json
import zlib


def convert(apps, number, ranking, lead=lambda kept: kept):
    """Rankings of the form `number` as `ranking` makes them, with their summaries as `lead` does; the bytes and the digest of before stay."""
    Snapshot, EarlierForm = (apps.get_model("leaderboard", name) for name in ("Snapshot", "EarlierForm"))
    for pk in Snapshot.objects.order_by("pk").values_list("pk", flat=True):
        row = Snapshot.objects.get(pk=pk)
        content = json.loads(zlib.decompress(bytes(row.payload)))
        if content["format"] != number:
            continue
        data = json.dumps(ranking(content), separators=(",", ":"), allow_nan=False).encode()
        digest = hashlib.sha256(f"{row.phase_id}\n".encode() + data).hexdigest()
        earlier = {"digest": row.digest, "payload": bytes(row.payload)}
        # Two that differed in nothing but their form are one ranking now, which the addresses of both lead to.
        same = Snapshot.objects.filter(phase=row.phase_id, audience=row.audience, digest=digest).first()
        if same is not None:
            EarlierForm.objects.filter(snapshot=row).update(snapshot=same)
            EarlierForm.objects.create(snapshot=same, **earlier)
            Snapshot.objects.filter(pk=same.pk).update(revision=max(same.revision, row.revision))
            row.delete()
            continue
        EarlierForm.objects.create(snapshot=row, **earlier)
        Snapshot.objects.filter(pk=pk).update(digest=digest, payload=zlib.compress(data), lead=lead(row.lead))
