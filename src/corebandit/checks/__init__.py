"""The contract, as functions: hand them a policy or a problem of your own and be told in a sentence what is wrong.

The first thing they do is run the class as plain Python, so an author meets ordinary errors before compiled ones.
"""

from corebandit.checks.policy_checks import check_policy, check_ranking_policy
from corebandit.checks.problem_checks import check_problem
from corebandit.checks.sentences import CheckFailed

__all__ = ["CheckFailed", "check_policy", "check_problem", "check_ranking_policy"]
