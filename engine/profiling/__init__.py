"""Measurements that replace the planner's assumptions."""
