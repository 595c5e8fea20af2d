"""`python -m leaderboard.package`: the command of the package, see `leaderboard.package.command`."""

from leaderboard.package.command import run

if __name__ == "__main__":
    run()
