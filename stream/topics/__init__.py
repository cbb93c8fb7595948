"""The service's topics as values, what each role may do with them, and making them so."""

from stream.topics.allowed import dispatcher_needs, refuse_missing_rights, worker_needs
from stream.topics.ensure import ensure_topics
from stream.topics.plan import TopicPlan, planned_topics
from stream.topics.rights import Right, needed_rights

__all__ = [
    "Right",
    "TopicPlan",
    "dispatcher_needs",
    "ensure_topics",
    "needed_rights",
    "planned_topics",
    "refuse_missing_rights",
    "worker_needs",
]
