package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.batches.BatchRunner;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.openai.wire.BatchJson;
import io.dynamo.frontend.openai.wire.BatchRequest;
import io.dynamo.frontend.openai.wire.JsonBody;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/** {@code /v1/batches}: files of requests that are served when clients leave room. */
@Path("batches")
@ApplicationScoped
public class BatchesResource {
  private static final int BODY_BYTES = 64 * 1024;
  private static final BatchCalls.Catalog CATALOG =
      new BatchCalls.Catalog(20, 100, 100, 64 * 1024); // metadata and faults of the input
  private static final int MAX_TENANT = 256;

  @Inject private BatchStore store;
  @Inject private BatchRunner runner;
  @Inject private BatchCalls calls;
  @Inject private DynamoRuntime runtime;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    var type = request.getContentType();
    long length = request.getContentLengthLong();
    var body = request.getInputStream();
    var tenant = Objects.requireNonNullElse(request.getHeader("x-tenant-id"), "");
    calls.receive(
        response,
        request,
        BatchCalls.BATCHES,
        (owner, place) -> {
          JsonBody.checkContentType(type);
          return created(owner, tenant, read(body, length, place));
        });
  }

  private BatchRequest read(InputStream body, long length, AdmittedCalls.Place place) {
    var settings = runtime.settings().frontend();
    var bounds =
        new RequestBody.Bounds(BODY_BYTES, "the route /v1/batches", settings.uploadTimeout());
    var bytes = RequestBody.read(body, length, bounds, calls.deadline(), place.share());
    place.account().bodyArrived();
    place.share().chargeComplete(bytes.jsonCost().workBytes());
    return BatchRequest.read(JsonBody.parse(bytes.drain()));
  }

  private byte[] created(String owner, String tenant, BatchRequest wanted)
      throws InterruptedException {
    if (!BatchLineCalls.endpoints().contains(wanted.endpoint())) {
      throw new ApiException(
          new ApiError(
              400,
              "`endpoint` is \"%s\", but must be one of %s"
                  .formatted(
                      ApiError.shown(wanted.endpoint()),
                      String.join(", ", BatchLineCalls.endpoints())),
              null,
              "endpoint",
              null));
    }
    if (tenant.length() > MAX_TENANT) {
      throw new ApiException(
          400,
          "x-tenant-id has more than the %d characters that a batch keeps".formatted(MAX_TENANT));
    }
    var batch =
        store.create(
            new BatchStore.NewBatch(
                owner,
                tenant,
                wanted.endpoint(),
                wanted.inputFile(),
                wanted.window(),
                wanted.time(),
                store.keep(wanted.keepSeconds()),
                wanted.metadata()));
    runner.wake();
    return BatchJson.batch(batch);
  }

  @GET
  public void list(@Suspended AsyncResponse response, @Context HttpServletRequest request) {
    calls.list(
        response, request, CATALOG, (owner, page) -> BatchJson.batches(store.list(owner, page)));
  }

  @GET
  @Path("{id}")
  public void get(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    calls.answer(
        response,
        request,
        (owner, _) -> BatchJson.batch(store.find(owner, id).orElseThrow(() -> notFound(id))));
  }

  @POST
  @Path("{id}/cancel")
  public void cancel(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    calls.answer(
        response,
        request,
        (owner, _) -> {
          var batch = store.cancel(owner, id).orElseThrow(() -> notFound(id));
          if (batch.status().isOver()) {
            throw new ApiException(
                400, "the batch cannot be cancelled: it is " + batch.status().label());
          }
          runner.wake();
          return BatchJson.batch(batch);
        });
  }

  private static ApiException notFound(String id) {
    return new ApiException(
        new ApiError(
            404, "No batch found with id '%s'.".formatted(ApiError.shown(id)), null, "id", null));
  }
}
