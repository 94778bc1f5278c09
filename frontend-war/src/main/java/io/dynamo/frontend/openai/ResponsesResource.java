package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.openai.wire.ResponseItems;
import io.dynamo.frontend.responses.ResponseStore;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.DELETE;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/responses} and {@code POST /v1/responses/input_tokens}; {@code GET} and {@code
 * DELETE} of {@code /v1/responses/{id}}, and {@code GET /v1/responses/{id}/input_items}, for stored
 * responses.
 */
@Path("responses")
@ApplicationScoped
public class ResponsesResource {
  private static final String ONE = "{id: resp_[^/]*}"; // input_tokens is none

  @Inject private TextService service;
  @Inject private ResponseStore store;
  @Inject private LookupCalls lookups;
  @Inject private DynamoRuntime runtime;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.RESPONSES, response, request);
  }

  @POST
  @Path("input_tokens")
  public void count(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    TextCalls.serve(service, TextService.RESPONSES_COUNT, response, request);
  }

  @GET
  @Path(ONE)
  public void get(
      @PathParam("id") String id,
      @QueryParam("stream") @Nullable String stream,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(
        response,
        request,
        share -> {
          if ("true".equals(stream)) {
            throw new ApiException(
                new ApiError(501, "a stored response is not streamed again", null, "stream", null));
          }
          return answers().response(id, deadline(), share);
        });
  }

  @DELETE
  @Path(ONE)
  public void delete(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(response, request, _ -> answers().delete(id, deadline()));
  }

  @GET
  @Path(ONE + "/input_items")
  public void items(
      @PathParam("id") String id,
      @QueryParam("after") @Nullable String after,
      @QueryParam("limit") @Nullable String limit,
      @QueryParam("order") @Nullable String order,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(
        response,
        request,
        share ->
            answers().items(id, ResponseItems.Page.of(after, limit, order), deadline(), share));
  }

  private StoredAnswers answers() {
    return new StoredAnswers(store, runtime.settings().frontend().bodyLimitBytes());
  }

  private void answer(
      AsyncResponse response, HttpServletRequest request, LookupCalls.Lookup lookup) {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    lookups.answer(
        response,
        request,
        ErrorFormat.OPENAI,
        share -> {
          if (!store.isOn()) {
            throw new ApiException(unknown);
          }
          return lookup.body(share);
        });
  }

  private Deadline deadline() {
    return Deadline.after(runtime.settings().frontend().requestTimeout());
  }
}
