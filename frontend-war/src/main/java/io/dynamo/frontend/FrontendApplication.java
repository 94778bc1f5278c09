package io.dynamo.frontend;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
import org.eclipse.microprofile.openapi.annotations.OpenAPIDefinition;
import org.eclipse.microprofile.openapi.annotations.info.Info;

/** Everything below {@code /v1}. Resources and providers are found by scanning. */
@ApplicationPath("v1")
@OpenAPIDefinition(
    info =
        @Info(
            title = "Dynamo on Jakarta EE",
            version = "0.1.0",
            description = "OpenAI-compatible inference, wire-compatible with NVIDIA Dynamo 1.6.1"))
public class FrontendApplication extends Application {}
