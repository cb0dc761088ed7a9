//! Tests of the engine through its public interface.
