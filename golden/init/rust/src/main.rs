fn main() { let listener = std::net::TcpListener::bind("0.0.0.0:7878").unwrap(); drop(listener) }
