package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.FileStore;
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
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/** Sends files to clients piece by piece, each on a virtual thread. */
@ApplicationScoped
public class FileDownloads {
  private static final System.Logger LOG = System.getLogger(FileDownloads.class.getName());
  private static final int COPIES = 3; // of a piece, while the database's driver reads it

  @Inject private BatchStore store;
  @Inject private RequestAdmission admission;
  @Inject private DynamoRuntime runtime;
  @Inject private FailureMeters failures;

  /** Finds the file that is asked for. */
  interface Finder {
    StoredFile find(String owner) throws InterruptedException;
  }

  /** Starts to answer and returns. */
  void answer(AsyncResponse response, HttpServletRequest request, Finder finder) {
    response.setTimeout(0, TimeUnit.MILLISECONDS);
    CountingMark.take(request);
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    var owner = Owners.of(request.getHeader("authorization"));
    var sink = TextCalls.answer(response, ErrorFormat.OPENAI);
    runtime
        .blocking()
        .execute(
            () -> {
              try (var share = admission.bodies().open()) {
                if (!admission.isOpen()) {
                  throw new ApiException(ApiError.unavailable("Service is not ready", null));
                }
                if (!store.isOn()) {
                  throw new ApiException(unknown);
                }
                send(response, finder.find(owner), share);
              } catch (UncheckedIOException e) {
                LOG.log(Level.DEBUG, "a file could not be sent", FailureShape.of(e));
              } catch (InterruptedException e) {
                refuse(sink, ApiError.unavailable("Service is shutting down", null));
                Thread.currentThread().interrupt();
              } catch (Throwable e) { // no caller above would answer
                refuse(sink, ApiError.of(e));
              }
            });
  }

  private void refuse(AnswerSink sink, ApiError error) {
    failures.count(error);
    try {
      sink.error(error);
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
    }
  }

  private void send(AsyncResponse response, StoredFile file, BodyBudget.Share share)
      throws InterruptedException {
    var first = store.files().next(file.id(), 0); // fails while it can be told
    first.ifPresent(run -> share.chargeComplete(COPIES * run.bytes()));
    StreamingOutput output =
        out -> {
          try {
            write(file, share, out);
          } catch (ApiException e) {
            throw new IOException("the file breaks off: " + e.error().message(), e);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the server stops", e);
          }
        };
    TextCalls.resume(
        response,
        Response.ok(output, MediaType.APPLICATION_OCTET_STREAM_TYPE)
            .header("content-length", file.bytes())
            .header("x-content-type-options", "nosniff")
            .header("content-disposition", "attachment")
            .build());
  }

  private void write(StoredFile file, BodyBudget.Share share, OutputStream out)
      throws IOException, InterruptedException {
    FileStore files = store.files();
    for (var run = files.next(file.id(), 0);
        run.isPresent();
        run = files.next(file.id(), run.get().last() + 1)) {
      share.chargeComplete(COPIES * run.get().bytes());
      for (var piece : files.load(run.get())) {
        out.write(piece);
      }
    }
  }
}
