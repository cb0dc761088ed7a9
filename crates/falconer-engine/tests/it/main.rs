//! Tests of the engine through its public interface.

#[cfg(test)]
mod shell_fuzz;
