package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.Listing;
import io.dynamo.frontend.batches.StoredFile;
import io.dynamo.frontend.openai.wire.BatchJson;
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
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** {@code /v1/files}: files of requests for batches, and of their results. */
@Path("files")
@ApplicationScoped
public class FilesResource {
  private static final BatchCalls.Catalog CATALOG =
      new BatchCalls.Catalog(10_000, 10_000, 1000, 4 * 1024);
  private static final Set<String> PURPOSES = Set.of("", "batch", "batch_output");

  @Inject private BatchStore store;
  @Inject private BatchCalls calls;
  @Inject private FileDownloads downloads;
  @Inject private DynamoRuntime runtime;

  @POST
  public void create(@Suspended AsyncResponse response, @Context HttpServletRequest request)
      throws IOException {
    var uploads = new FileUploads(store, runtime.settings().frontend().uploadTimeout());
    var type = request.getContentType();
    var body = request.getInputStream();
    calls.receive(
        response,
        request,
        BatchCalls.FILES,
        (owner, place) -> uploads.take(owner, type, body, place));
  }

  @GET
  public void list(
      @QueryParam("purpose") @Nullable String purpose,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    var wanted = Objects.requireNonNullElse(purpose, "");
    calls.list(
        response,
        request,
        CATALOG,
        (owner, page) ->
            BatchJson.files(
                PURPOSES.contains(wanted)
                    ? store.files().list(owner, page, wanted)
                    : Listing.Entries.none()));
  }

  @GET
  @Path("{id}")
  public void get(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    calls.answer(response, request, (owner, _) -> BatchJson.file(found(owner, id)));
  }

  @DELETE
  @Path("{id}")
  public void delete(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    calls.answer(
        response,
        request,
        (owner, _) -> {
          if (!store.files().delete(owner, id)) {
            throw notFound(id);
          }
          return BatchJson.deleted(id);
        });
  }

  @GET
  @Path("{id}/content")
  public void content(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    downloads.answer(response, request, owner -> found(owner, id));
  }

  private StoredFile found(String owner, String id) throws InterruptedException {
    return store.files().find(owner, id).orElseThrow(() -> notFound(id));
  }

  private static ApiException notFound(String id) {
    return new ApiException(
        new ApiError(404, "No such file: '%s'".formatted(ApiError.shown(id)), null, "id", null));
  }
}
