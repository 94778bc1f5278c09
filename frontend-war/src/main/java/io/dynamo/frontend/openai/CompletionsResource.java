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

/** {@code POST /v1/completions}. */
@Path("completions")
@ApplicationScoped
public class CompletionsResource {
  @Inject private TextService service;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.COMPLETIONS, response, request);
  }
}
