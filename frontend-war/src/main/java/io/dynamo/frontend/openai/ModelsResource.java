package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.catalog.ListedNames;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.ModelList;
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
import java.util.ArrayList;

/**
 * {@code GET /v1/models}, {@code GET /v1/models/{id}} and {@code GET /v1/models/{id}/ready}; an id
 * may hold slashes, and a model whose name ends in {@code /ready} is found by its whole name.
 */
@Path("models")
@ApplicationScoped
public class ModelsResource {
  private static final String READY = "/ready";

  @Inject private ModelCatalog catalog;
  @Inject private EdgeRules rules;
  @Inject private LookupCalls lookups;

  @GET
  @Produces(MediaType.APPLICATION_JSON)
  public void list(@Suspended AsyncResponse response, @Context HttpServletRequest request) {
    var form = form(request);
    lookups.answer(
        response,
        request,
        form,
        _ -> {
          var entries = new ArrayList<ModelList.Entry>();
          ListedNames.of(catalog).forEach((name, model) -> entries.add(entry(name, model)));
          var list = new ModelList(entries);
          return form == ErrorFormat.ANTHROPIC ? list.anthropicBody() : list.body();
        });
  }

  @GET
  @Path("{id: .+}")
  @Produces(MediaType.APPLICATION_JSON)
  public void get(
      @PathParam("id") String id,
      @Suspended AsyncResponse response,
      @Context HttpServletRequest request) {
    var form = form(request);
    lookups.answer(response, request, form, _ -> described(id, form));
  }

  /** Returns the error format of the caller's family of APIs. */
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

  private ModelList.Entry entry(String id, ServedModel model) {
    var window = rules.contextWindow();
    return new ModelList.Entry(
        id,
        model.createdAtSeconds(),
        window == null ? model.card().contextLength() : window,
        rules.maxOutputTokens());
  }
}
