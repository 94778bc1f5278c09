package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.openai.wire.ConversationRequest;
import io.dynamo.frontend.openai.wire.JsonBody;
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
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** {@code /v1/conversations}: items that requests for responses continue and add to. */
@Path("conversations")
@ApplicationScoped
public class ConversationsResource {
  /** The label in metrics. */
  static final String ENDPOINT = "conversations";

  private static final String ONE = "{id}";
  private static final String ITEMS = ONE + "/items";
  private static final String ITEM = ITEMS + "/{item}";

  @Inject private ResponseStore store;
  @Inject private LookupCalls lookups;
  @Inject private AdmittedCalls admitted;
  @Inject private DynamoRuntime runtime;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    receive(
        response,
        request,
        ConversationRequest.Kind.CREATION,
        wanted -> answers().create(wanted, deadline()));
  }

  @GET
  @Path(ONE)
  public void get(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(response, request, _ -> answers().conversation(id, deadline()));
  }

  @POST
  @Path(ONE)
  public void change(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request)
      throws IOException {
    receive(
        response,
        request,
        ConversationRequest.Kind.CHANGE,
        wanted -> answers().change(id, wanted, deadline()));
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
  @Path(ITEMS)
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

  @POST
  @Path(ITEMS)
  public void add(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request)
      throws IOException {
    receive(
        response,
        request,
        ConversationRequest.Kind.ADDITION,
        wanted -> answers().add(id, wanted, deadline()));
  }

  @GET
  @Path(ITEM)
  public void item(
      @PathParam("id") String id,
      @PathParam("item") String item,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(response, request, share -> answers().item(id, item, deadline(), share));
  }

  @DELETE
  @Path(ITEM)
  public void deleteItem(
      @PathParam("id") String id,
      @PathParam("item") String item,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    answer(response, request, share -> answers().deleteItem(id, item, deadline(), share));
  }

  private ConversationAnswers answers() {
    return new ConversationAnswers(
        store, InstantSource.system(), runtime.settings().frontend().bodyLimitBytes());
  }

  private Deadline deadline() {
    return Deadline.after(runtime.settings().frontend().requestTimeout());
  }

  private void answer(
      AsyncResponse response, HttpServletRequest request, LookupCalls.Lookup lookup) {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    lookups.answer(
        response,
        request,
        ErrorFormat.OPENAI,
        share -> {
          requireOn(unknown);
          return lookup.body(share);
        });
  }

  /** Makes the body of an answer from a request that was read. */
  private interface Work {
    byte[] body(ConversationRequest wanted) throws InterruptedException;
  }

  private void receive(
      AsyncResponse response, HttpServletRequest request, ConversationRequest.Kind kind, Work work)
      throws IOException {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    var type = request.getContentType();
    long length = request.getContentLengthLong();
    var body = request.getInputStream();
    admitted.answer(
        response,
        request,
        ENDPOINT,
        (sink, place) -> {
          requireOn(unknown);
          JsonBody.checkContentType(type);
          var settings = runtime.settings().frontend();
          var bounds =
              new RequestBody.Bounds(
                  settings.bodyLimitBytes(),
                  "dynamo.frontend.body-limit",
                  settings.uploadTimeout());
          var bytes = RequestBody.read(body, length, bounds, deadline(), place.share());
          place.account().bodyArrived();
          place.share().chargeComplete(2 * bytes.jsonCost().workBytes()); // and a copy with ids
          sink.json(work.body(ConversationRequest.read(JsonBody.parse(bytes.drain()), kind)));
        });
  }

  private void requireOn(ApiError unknown) {
    if (!store.isOn()) {
      throw new ApiException(unknown);
    }
  }
}
