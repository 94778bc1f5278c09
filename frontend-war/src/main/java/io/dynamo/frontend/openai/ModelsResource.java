package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.Admission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.ModelList;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import org.eclipse.microprofile.openapi.annotations.Operation;

/**
 * {@code GET /v1/models}, {@code GET /v1/models/{id}} and {@code GET /v1/models/{id}/ready}; an id
 * may hold slashes, and a model whose name ends in {@code /ready} is found by its whole name.
 */
@Path("models")
@ApplicationScoped
public class ModelsResource {
  private static final String READY = "/ready";

  @Inject private ModelCatalog catalog;
  @Inject private Admission admission;
  @Inject private EdgeRules rules;

  @GET
  @Operation(summary = "Lists the models that can be asked now")
  public Response list() {
    checkOpen();
    return json(new ModelList(catalog.models().stream().map(this::entry).toList()).body());
  }

  @GET
  @Path("{id: .+}")
  @Operation(summary = "Describes one model")
  public Response get(@PathParam("id") String id) {
    checkOpen();
    var model = catalog.find(id);
    if (model.isEmpty() && !catalog.isKnown(id) && id.endsWith(READY)) {
      var base = id.substring(0, id.length() - READY.length());
      var readiness = catalog.readiness(base);
      if (readiness.isPresent()) {
        return json(ReadinessText.body(base, readiness.get()));
      }
    }
    if (model.isEmpty()) {
      throw new ApiException(
          catalog.isKnown(id) ? TextService.notReady(id) : ApiError.modelNotFound(id));
    }
    return json(entry(model.get()).body());
  }

  private void checkOpen() {
    if (!admission.isOpen()) {
      throw new ApiException(ApiError.unavailable("Service is not ready", null));
    }
  }

  private ModelList.Entry entry(ServedModel model) {
    var window = rules.contextWindow();
    return new ModelList.Entry(
        model.name(),
        model.createdAtSeconds(),
        window == null ? model.card().contextLength() : window,
        rules.maxOutputTokens());
  }

  private static Response json(byte[] body) {
    return Response.ok(body, MediaType.APPLICATION_JSON_TYPE).build();
  }
}
