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
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Answers requests about files and batches, for the owner that each comes from. */
@ApplicationScoped
public class BatchCalls {
  /** The labels of the routes in metrics. */
  static final String FILES = "files";

  static final String BATCHES = "batches";

  private static final int LISTS = 8; // at once
  private static final Duration LIST_WAIT = Duration.ofSeconds(5);

  private final ListTurns turns = new ListTurns(LISTS, LIST_WAIT);

  @Inject private BatchStore store;
  @Inject private LookupCalls lookups;
  @Inject private AdmittedCalls admitted;
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

  /** Makes the body of an answer from that of a request. */
  interface Reception {
    byte[] body(String owner, AdmittedCalls.Place place) throws InterruptedException;
  }

  /**
   * Starts to receive a body and returns; 404 where batches are switched off.
   *
   * @param endpoint the label in metrics
   */
  void receive(
      AsyncResponse response, HttpServletRequest request, String endpoint, Reception reception) {
    var unknown = ApiError.routeNotFound(request.getMethod(), request.getRequestURI());
    var owner = Owners.of(request.getHeader("authorization"));
    admitted.answer(
        response,
        request,
        endpoint,
        (sink, place) -> {
          if (!store.isOn()) {
            throw new ApiException(unknown);
          }
          sink.json(reception.body(owner, place));
        });
  }

  /**
   * A list that clients may ask for.
   *
   * @param standard entries of a page whose request names no limit
   * @param mostAsked the largest limit that is accepted
   * @param most entries of a page, whatever its limit
   * @param entryBytes of memory that one entry takes
   */
  record Catalog(int standard, int mostAsked, int most, int entryBytes) {}

  /** Makes the body of a list. */
  interface Pages {
    byte[] body(String owner, Listing.Page page) throws InterruptedException;
  }

  /** Starts to answer a list and returns; its memory is charged before it is read. */
  void list(AsyncResponse response, HttpServletRequest request, Catalog catalog, Pages pages) {
    var after = request.getParameter("after");
    var limit = request.getParameter("limit");
    var order = request.getParameter("order");
    answer(
        response,
        request,
        (owner, share) -> {
          var page = page(after, limit, order, catalog);
          long bytes = (long) catalog.entryBytes() * (page.limit() + 1);
          return turns.make(share, bytes, () -> pages.body(owner, page));
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
      @Nullable String after, @Nullable String limit, @Nullable String order, Catalog catalog) {
    int count = catalog.standard();
    if (limit != null) {
      count = limit.matches("\\d{1,6}") ? Integer.parseInt(limit) : 0;
      if (count < 1 || count > catalog.mostAsked()) {
        throw refuse("limit", limit, "a number from 1 to " + catalog.mostAsked());
      }
    }
    if (order != null && !order.equals("asc") && !order.equals("desc")) {
      throw refuse("order", order, "asc or desc");
    }
    return new Listing.Page(
        Objects.requireNonNullElse(after, ""),
        Math.min(count, catalog.most()),
        "asc".equals(order));
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
