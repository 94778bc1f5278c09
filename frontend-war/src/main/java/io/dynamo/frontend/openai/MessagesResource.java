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

/** {@code POST /v1/messages} and {@code POST /v1/messages/count_tokens}. */
@Path("messages")
@ApplicationScoped
public class MessagesResource {
  @Inject private TextService service;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.MESSAGES, response, request);
  }

  @POST
  @Path("count_tokens")
  public void count(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.MESSAGES_COUNT, response, request);
  }
}
