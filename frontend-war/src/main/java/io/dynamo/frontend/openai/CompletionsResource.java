package io.dynamo.frontend.openai;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import java.io.IOException;
import org.eclipse.microprofile.openapi.annotations.Operation;

/** {@code POST /v1/completions}. */
@Path("completions")
@ApplicationScoped
public class CompletionsResource {
  @Inject private TextService service;

  @POST
  @Operation(summary = "Continues texts, streamed or at once")
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.COMPLETIONS, response, request);
  }
}
