package io.dynamo.frontend.openai;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import java.io.IOException;

/** {@code POST /v1/rerank}, {@code /v1/classify} and {@code /v1/pooling}. */
@Path("{task: rerank|classify|pooling}")
@ApplicationScoped
public class TasksResource {
  @Inject private TextService service;

  @POST
  public void create(
      @PathParam("task") String task,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request)
      throws IOException {
    var api =
        switch (task) {
          case "rerank" -> TextService.RERANK;
          case "classify" -> TextService.CLASSIFY;
          default -> TextService.POOLING;
        };
    TextCalls.serve(service, api, response, request);
  }
}
