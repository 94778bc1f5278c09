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

/** {@code POST /v1/responses} and {@code POST /v1/responses/input_tokens}. */
@Path("responses")
@ApplicationScoped
public class ResponsesResource {
  @Inject private TextService service;

  @POST
  @Operation(summary = "Creates a response, streamed or at once")
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.RESPONSES, response, request);
  }

  @POST
  @Path("input_tokens")
  @Operation(summary = "Counts the tokens of the input of a response")
  public void count(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.RESPONSES_COUNT, response, request);
  }
}
