package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.Listing;
import io.dynamo.frontend.batches.Owners;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.AsyncResponse;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Answers requests about files and batches, for the owner that each comes from. */
@ApplicationScoped
public class BatchCalls {
  @Inject private BatchStore store;
  @Inject private LookupCalls lookups;
  @Inject private DynamoRuntime runtime;

  /** Makes the body of an answer. */
  interface Work {
    byte[] body(String owner, BodyBudget.Share share) throws InterruptedException;
  }

  /** Starts to answer and returns; 404 where batches are switched off. */
  void answer(AsyncResponse response, HttpServletRequest request, Work work) {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    var owner = Owners.of(request.getHeader("authorization"));
    lookups.answer(
        response,
        request,
        ErrorFormat.OPENAI,
        share -> {
          if (!store.isOn()) {
            throw new ApiException(unknown);
          }
          return work.body(owner, share);
        });
  }

  Deadline deadline() {
    return Deadline.after(runtime.settings().frontend().requestTimeout());
  }

  /**
   * Reads the parameters of a list; null is absent.
   *
   * @throws ApiException with 400
   */
  static Listing.Page page(
      @Nullable String after,
      @Nullable String limit,
      @Nullable String order,
      int standard,
      int most) {
    int count = standard;
    if (limit != null) {
      if (!limit.matches("\\d{1,6}")
          || Integer.parseInt(limit) < 1
          || Integer.parseInt(limit) > most) {
        throw refuse("limit", limit, "a number from 1 to " + most);
      }
      count = Integer.parseInt(limit);
    }
    if (order != null && !order.equals("asc") && !order.equals("desc")) {
      throw refuse("order", order, "asc or desc");
    }
    return new Listing.Page(Objects.requireNonNullElse(after, ""), count, "asc".equals(order));
  }

  private static ApiException refuse(String name, String value, String expected) {
    return new ApiException(
        new ApiError(
            400,
            "`%s` is \"%s\", but must be %s".formatted(name, ApiError.shown(value), expected),
            null,
            name,
            null));
  }
}
