package io.dynamo.frontend.openai;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ListedNames;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.ModelList;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.eclipse.microprofile.openapi.annotations.Operation;

/**
 * {@code GET /v1/models}, {@code GET /v1/models/{id}} and {@code GET /v1/models/{id}/ready}; an id
 * may hold slashes, and a model whose name ends in {@code /ready} is found by its whole name.
 */
@Path("models")
@ApplicationScoped
public class ModelsResource {
  private static final System.Logger LOG = System.getLogger(ModelsResource.class.getName());
  private static final String READY = "/ready";

  @Inject private ModelCatalog catalog;
  @Inject private RequestAdmission admission;
  @Inject private EdgeRules rules;
  @Inject private DynamoRuntime runtime;
  @Inject private FailureMeters failures;

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(summary = "Lists the models that can be asked now")
  public void list(@Suspended AsyncResponse response, @Context HttpServletRequest request) {
    var form = form(request);
    answer(
        response,
        request,
        () -> {
          var entries = new ArrayList<ModelList.Entry>();
          ListedNames.of(catalog).forEach((name, model) -> entries.add(entry(name, model)));
          var list = new ModelList(entries);
          return form == ErrorFormat.ANTHROPIC ? list.anthropicBody() : list.body();
        });
  }

  @GET
  @Path("{id: .+}")
  @Produces(MediaType.APPLICATION_JSON)
  @Operation(summary = "Describes one model")
  public void get(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    var form = form(request);
    answer(response, request, () -> described(id, form));
  }

  /** The family of APIs that the caller wants the answer of. */
  private static ErrorFormat form(HttpServletRequest request) {
    return request.getHeader("anthropic-version") == null
        ? ErrorFormat.OPENAI
        : ErrorFormat.ANTHROPIC;
  }

  private byte[] described(String id, ErrorFormat form) {
    var model = catalog.find(id);
    if (model.isEmpty() && !catalog.isKnown(id) && id.endsWith(READY)) {
      var base = id.substring(0, id.length() - READY.length());
      var readiness = catalog.readiness(base);
      if (readiness.isPresent()) {
        return ReadinessText.body(base, readiness.get());
      }
    }
    if (model.isEmpty()) {
      throw new ApiException(
          catalog.isKnown(id) ? TextService.notReady(id) : ApiError.modelNotFound(id));
    }
    var entry = entry(id, model.get());
    return form == ErrorFormat.ANTHROPIC ? entry.anthropicBody() : entry.body();
  }

  /**
   * Answers on a virtual thread, so that a client that does not read holds no thread of the
   * container.
   */
  private void answer(AsyncResponse response, HttpServletRequest request, Supplier<byte[]> body) {
    response.setTimeout(0, TimeUnit.MILLISECONDS);
    CountingMark.take(request);
    var form = form(request); // now: later the container may have reused the object
    runtime
        .blocking()
        .execute(
            () -> {
              var answer = TextCalls.answer(response, form);
              try {
                checkOpen();
                answer.json(body.get());
              } catch (ApiException e) {
                failures.count(e.error());
                answer.error(e.error());
              } catch (UncheckedIOException e) {
                LOG.log(Level.DEBUG, "a list of models could not be written", FailureShape.of(e));
              }
            });
  }

  private void checkOpen() {
    if (!admission.isOpen()) {
      throw new ApiException(ApiError.unavailable("Service is not ready", null));
    }
  }

  private ModelList.Entry entry(String id, ServedModel model) {
    var window = rules.contextWindow();
    return new ModelList.Entry(
        id,
        model.createdAtSeconds(),
        window == null ? model.card().contextLength() : window,
        rules.maxOutputTokens());
  }
}
