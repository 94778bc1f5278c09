package io.dynamo.frontend;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Everything below {@code /v1}. Resources and providers are found by scanning. */
@ApplicationPath("v1")
public class FrontendApplication extends Application {}
