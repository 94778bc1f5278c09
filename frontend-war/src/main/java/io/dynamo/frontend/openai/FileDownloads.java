package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.Owners;
import io.dynamo.frontend.batches.StoredFile;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicReference;

/** Sends files to clients, each on a virtual thread. */
@ApplicationScoped
public class FileDownloads {
  private static final System.Logger LOG = System.getLogger(FileDownloads.class.getName());

  @Inject private BatchStore store;
  @Inject private AdmittedCalls calls;
  @Inject private DynamoRuntime runtime;

  /** Finds the file that is asked for. */
  interface Finder {
    StoredFile find(String owner) throws InterruptedException;
  }

  /** Starts to answer and returns. */
  void answer(AsyncResponse response, HttpServletRequest request, Finder finder) {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    var owner = Owners.of(request.getHeader("authorization"));
    calls.answer(
        response,
        request,
        BatchCalls.FILES,
        (_, place) -> {
          if (!store.isOn()) {
            throw new ApiException(unknown);
          }
          var file = finder.find(owner);
          var time = runtime.settings().frontend().requestTimeout();
          send(response, file, new FileDownload(store.files(), file, place.share(), time));
        });
  }

  private static void send(AsyncResponse response, StoredFile file, FileDownload download)
      throws InterruptedException {
    var opened = download.open(); // fails while it can be told
    var failure = new AtomicReference<IOException>();
    StreamingOutput output =
        out -> {
          try {
            download.writeTo(out, opened);
          } catch (IOException e) {
            failure.set(e);
            throw e;
          }
        };
    TextCalls.resume(
        response,
        Response.ok(output, MediaType.APPLICATION_OCTET_STREAM_TYPE)
            .header("content-length", file.bytes())
            .header("x-content-type-options", "nosniff")
            .header("content-disposition", "attachment")
            .build());
    var broken = failure.get();
    if (broken != null) {
      LOG.log(Level.DEBUG, "a file could not be sent", FailureShape.of(broken));
      throw new UncheckedIOException(broken);
    }
  }
}
