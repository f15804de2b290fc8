//! Where things go: free places on the plate, from its middle to its edge.
