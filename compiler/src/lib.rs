//! Policy to plan to artifact.
