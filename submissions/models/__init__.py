"""Models of participants, challenges, entries and files. One module per noun; this is the list of them."""

from submissions.models.audit import AuditEntry
from submissions.models.challenge import Announcement, Challenge, ChallengeFile, ChallengePage
from submissions.models.participation import Admission, Participation
from submissions.models.phase import Phase
from submissions.models.quota import ExtraTries
from submissions.models.rate_count import RateCount
from submissions.models.status import Status
from submissions.models.submission import Submission
from submissions.models.team import FormerTeam, Invitation, Membership, Team, TeamInvite, TeamMerge
from submissions.models.user import ApiToken, Scope, User

__all__ = [
    "Admission",
    "Announcement",
    "ApiToken",
    "AuditEntry",
    "Challenge",
    "ChallengeFile",
    "ChallengePage",
    "ExtraTries",
    "FormerTeam",
    "Invitation",
    "Membership",
    "Participation",
    "Phase",
    "RateCount",
    "Scope",
    "Status",
    "Submission",
    "Team",
    "TeamInvite",
    "TeamMerge",
    "User",
]
