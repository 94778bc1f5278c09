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

/** {@code POST /v1/messages} and {@code POST /v1/messages/count_tokens}. */
@Path("messages")
@ApplicationScoped
public class MessagesResource {
  @Inject private TextService service;

  @POST
  @Operation(summary = "Creates a message in Anthropic's form, streamed or at once")
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.MESSAGES, response, request);
  }

  @POST
  @Path("count_tokens")
  @Operation(summary = "Counts the tokens of a conversation in Anthropic's form")
  public void count(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.MESSAGES_COUNT, response, request);
  }
}
