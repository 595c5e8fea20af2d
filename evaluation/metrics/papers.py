"""Papers that metrics are from: title, authors, place and link of each, said once for every page that names one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A publication; `authors` is empty where the source at hand does not name them."""

    title: str
    authors: str
    place: str
    link: str

    def __str__(self) -> str:
        return f"{f'{self.authors}: ' if self.authors else ''}{self.title}, {self.place}"


@dataclass(frozen=True)
class Origin:
    """Source of a metric's definition: the papers that define or recommend it, and what must be known beside them."""

    papers: tuple[Paper, ...] = ()
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.papers or self.note)

    def __str__(self) -> str:
        return ". ".join(filter(None, (*map(str, self.papers), self.note[:1].upper() + self.note[1:])))

    def noting(self, note: str) -> Origin:
        """The same papers with another note, which follows the existing one."""
        return Origin(self.papers, f"{self.note}; {note}" if self.note else note)


def _arxiv(title: str, authors: str, number: str, place: str) -> Paper:
    return Paper(title, authors, place, f"https://arxiv.org/abs/{number}")


OSIM = _arxiv(
    "Objectness Similarity: Capturing Object-Level Fidelity in 3D Scene Evaluation",
    "Y. Uchida, R. Togo, K. Maeda, T. Ogawa, M. Haseyama",
    "2509.09143",
    "arXiv 2509.09143, 2025",
)
PUZZLESIM = _arxiv(
    "Puzzle Similarity: A Perceptually-guided Cross-Reference Metric for Artifact Detection in 3D Scene Reconstructions",
    "N. Hermann, J. Condor, P. Didyk",
    "2411.17489",
    "arXiv 2411.17489, 2024",
)
LOCASE = Paper("Learning 3D Shape Fidelity Metric from Real-world Distortions", "", "CVPR 2026", "https://openaccess.thecvf.com/CVPR2026")
GPTEVAL3D = _arxiv(
    "GPT-4V(ision) is a Human-Aligned Evaluator for Text-to-3D Generation",
    "T. Wu, G. Yang, Z. Li, K. Zhang, Z. Liu, L. Guibas, D. Lin, G. Wetzstein",
    "2401.04092",
    "CVPR 2024, arXiv 2401.04092",
)
WIREFRAMES = _arxiv(
    "Explaining Human Preferences via Metrics for Structured 3D Reconstruction",
    "J. Langerman, D. Rozumnyi, Y. Huang, D. Mishkin",
    "2503.08208",
    "ICCV 2025, arXiv 2503.08208",
)
# Papers whose figures have a page (leaderboard/studies/paper_figures.toml), by the name that its address has.
STUDIED = {"osim": OSIM, "puzzlesim": PUZZLESIM, "locase": LOCASE, "gpteval3d": GPTEVAL3D, "wireframes": WIREFRAMES}

BUILDING3D = _arxiv(
    "Building3D: An Urban-Scale Dataset and Benchmarks for Learning Roof Structures from Aerial Point Clouds",
    "R. Wang, S. Huang, H. Yang",
    "2307.11914",
    "ICCV 2023, arXiv 2307.11914",
)
LCNN = _arxiv("End-to-End Wireframe Parsing", "Y. Zhou, H. Qi, Y. Ma", "1905.03246", "ICCV 2019, arXiv 1905.03246")
PC2WF = _arxiv(
    "PC2WF: 3D Wireframe Reconstruction from Raw Point Clouds",
    "Y. Liu, S. D’Aronco, K. Schindler, J. D. Wegner",
    "2103.02766",
    "ICLR 2021, arXiv 2103.02766",
)
SAUCD = _arxiv(
    "Spectrum AUC Difference (SAUCD): Human-aligned 3D Shape Evaluation",
    "T. Luan, Z. Li, L. Chen, X. Gong, L. Chen, Y. Xu, J. Yuan",
    "2403.01619",
    "CVPR 2024, arXiv 2403.01619",
)
PIFU = _arxiv(
    "PIFu: Pixel-Aligned Implicit Function for High-Resolution Clothed Human Digitization",
    "S. Saito, Z. Huang, R. Natsume, S. Morishima, A. Kanazawa, H. Li",
    "1905.05172",
    "ICCV 2019, arXiv 1905.05172",
)
CLIP = _arxiv(
    "Learning Transferable Visual Models From Natural Language Supervision",
    "A. Radford et al.",
    "2103.00020",
    "ICML 2021, arXiv 2103.00020",
)
LPIPS = _arxiv(
    "The Unreasonable Effectiveness of Deep Features as a Perceptual Metric",
    "R. Zhang, P. Isola, A. A. Efros, E. Shechtman, O. Wang",
    "1801.03924",
    "CVPR 2018, arXiv 1801.03924",
)
FID = _arxiv(
    "GANs Trained by a Two Time-Scale Update Rule Converge to a Local Nash Equilibrium",
    "M. Heusel, H. Ramsauer, T. Unterthiner, B. Nessler, S. Hochreiter",
    "1706.08500",
    "NeurIPS 2017, arXiv 1706.08500",
)
SSIM = Paper(
    "Image Quality Assessment: From Error Visibility to Structural Similarity",
    "Z. Wang, A. C. Bovik, H. R. Sheikh, E. P. Simoncelli",
    "IEEE Transactions on Image Processing 13 (4), 2004",
    "https://doi.org/10.1109/TIP.2003.819861",
)
NERFBASELINES = _arxiv(
    "NerfBaselines: Consistent and Reproducible Evaluation of Novel View Synthesis Methods",
    "J. Kulhanek, T. Sattler",
    "2406.17345",
    "arXiv 2406.17345, 2024",
)
EFFICIENTNET = _arxiv(
    "EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks",
    "M. Tan, Q. V. Le",
    "1905.11946",
    "ICML 2019, arXiv 1905.11946",
)
PATCHES = Paper(
    "An Analysis of Single-Layer Networks in Unsupervised Feature Learning",
    "A. Coates, H. Lee, A. Y. Ng",
    "AISTATS 2011",
    "https://proceedings.mlr.press/v15/coates11a.html",
)
