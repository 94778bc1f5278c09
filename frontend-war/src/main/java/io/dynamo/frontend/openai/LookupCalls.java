package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.AsyncResponse;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;

/**
 * Answers requests that look something up, each on a virtual thread, so that a client that does not
 * read holds no thread of the container.
 */
@ApplicationScoped
public class LookupCalls {
  private static final System.Logger LOG = System.getLogger(LookupCalls.class.getName());

  @Inject private RequestAdmission admission;
  @Inject private DynamoRuntime runtime;
  @Inject private FailureMeters failures;

  /** Finds the body of an answer. */
  public interface Lookup {
    /**
     * Returns the body, JSON in UTF-8.
     *
     * @param share the memory of the request, held until its answer is written; empty at first
     * @throws ApiException the answer when there is no body
     */
    byte[] body(BodyBudget.Share share) throws InterruptedException;
  }

  /** Starts to answer and returns. */
  public void answer(
      AsyncResponse response, HttpServletRequest request, ErrorFormat form, Lookup lookup) {
    response.setTimeout(0, TimeUnit.MILLISECONDS);
    CountingMark.take(request);
    var sink = TextCalls.answer(response, form);
    runtime.blocking().execute(() -> answer(sink, lookup, admission, failures));
  }

  static void answer(
      AnswerSink answer, Lookup lookup, RequestAdmission admission, FailureMeters failures) {
    try (var share = admission.bodies().open()) {
      if (!admission.isOpen()) {
        throw new ApiException(ApiError.unavailable("Service is not ready", null));
      }
      answer.json(lookup.body(share));
    } catch (ApiException e) {
      refuse(answer, failures, e.error());
    } catch (InterruptedException e) {
      refuse(answer, failures, ApiError.unavailable("Service is shutting down", null));
      Thread.currentThread().interrupt();
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
    } catch (Throwable e) { // no caller above would answer
      LOG.log(Level.ERROR, "a request failed unexpectedly", FailureShape.of(e));
      refuse(answer, failures, ApiError.of(e));
    }
  }

  private static void refuse(AnswerSink answer, FailureMeters failures, ApiError error) {
    failures.count(error);
    try {
      answer.error(error);
    } catch (UncheckedIOException e) {
      LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
    }
  }
}
