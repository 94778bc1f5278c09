package io.dynamo.worker.wiring;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** The worker's operator interface, below the module's {@code /worker}. */
@ApplicationPath("/")
public class WorkerApplication extends Application {}
