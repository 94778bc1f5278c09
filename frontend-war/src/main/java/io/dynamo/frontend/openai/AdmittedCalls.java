package io.dynamo.frontend.openai;

import io.dynamo.error.CancelledException;
import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.AsyncResponse;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests whose bodies or answers may take long, each on a virtual thread: files that
 * arrive or leave. Like a request for text, each takes a place of the admission and a share of the
 * memory for requests, and while it is slow it loses both to others.
 */
@ApplicationScoped
public class AdmittedCalls {
  private static final System.Logger LOG = System.getLogger(AdmittedCalls.class.getName());
  private static final ApiError GONE = ApiError.of(new CancelledException("the client left"));

  @Inject private RequestAdmission admission;
  @Inject private DynamoRuntime runtime;

  /** The place and the memory of a request. */
  record Place(RequestAccount account, BodyBudget.Share share) {}

  /** Answers a request. */
  interface Task {
    /**
     * Writes the answer.
     *
     * @throws ApiException the answer when nothing was written
     * @throws UncheckedIOException when the client is gone
     */
    void answer(AnswerSink sink, Place place) throws InterruptedException;
  }

  /**
   * Starts to answer and returns.
   *
   * @param endpoint the label in metrics
   */
  void answer(AsyncResponse response, HttpServletRequest request, String endpoint, Task task) {
    response.setTimeout(0, TimeUnit.MILLISECONDS);
    CountingMark.take(request);
    var sink = TextCalls.answer(response, ErrorFormat.OPENAI);
    runtime.blocking().execute(() -> run(admission, endpoint, sink, task));
  }

  static void run(RequestAdmission admission, String endpoint, AnswerSink sink, Task task) {
    RequestAccount account;
    try {
      account = admission.admit(endpoint);
    } catch (ApiException e) { // counted there
      refuse(sink, e.error());
      return;
    }
    @Nullable ApiError outcome = TextRequest.INTERNAL;
    try (var share = admission.bodies().open()) {
      account.whenDisplaced(share::giveUp);
      task.answer(sink, new Place(account, share));
      outcome = null;
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
      account.recordDisconnect();
      outcome = GONE;
    } catch (InterruptedException e) {
      outcome = ApiError.unavailable("Service is shutting down", null);
      refuse(sink, outcome);
      Thread.currentThread().interrupt();
    } catch (Throwable e) { // no caller above would answer
      if (!(e instanceof ApiException)) {
        LOG.log(Level.ERROR, "a request failed unexpectedly", FailureShape.of(e));
      }
      outcome = account.errorFor(e);
      refuse(sink, outcome);
    } finally {
      account.end(outcome);
    }
  }

  private static void refuse(AnswerSink sink, ApiError error) {
    try {
      sink.error(error);
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "a refusal could not be written", FailureShape.of(e));
    }
  }
}
