package io.dynamo.worker.wiring;

import io.dynamo.json.Json;
import io.dynamo.worker.engine.RankLoad;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports the worker's status and drains it. {@link AdminFilter} authorises requests beforehand.
 */
@Path("/")
@RequestScoped
@Produces(MediaType.APPLICATION_JSON)
public class WorkerAdmin {
  private final WorkerHolder worker;

  /** Creates the container's client proxy. */
  protected WorkerAdmin() {
    this(new WorkerHolder());
  }

  @Inject
  public WorkerAdmin(WorkerHolder worker) {
    this.worker = worker;
  }

  @GET
  @Path("status")
  public Response status() {
    var status = worker.status();
    if (status == null) {
      return Response.status(Response.Status.NOT_FOUND).build();
    }
    return Response.ok(Json.write(json(status))).build();
  }

  /** Starts a drain and answers 202; readiness and the status show its progress. */
  @POST
  @Path("drain")
  public Response drain() {
    return Response.status(
            worker.beginDrain() ? Response.Status.ACCEPTED : Response.Status.NOT_FOUND)
        .build();
  }

  /** Returns the status of one model at the top level; with several, each under {@code models}. */
  static Map<String, @Nullable Object> json(WorkerHolder.Status status) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("state", status.state().name().toLowerCase(Locale.ROOT));
    json.put("memory", status.memoryKind());
    if (status.models().size() == 1) {
      put(json, status.models().getFirst());
    } else {
      json.put("models", status.models().stream().map(WorkerAdmin::json).toList());
    }
    return json;
  }

  private static Map<String, @Nullable Object> json(WorkerHolder.ModelStatus model) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("state", model.state().name().toLowerCase(Locale.ROOT));
    put(json, model);
    return json;
  }

  private static void put(Map<String, @Nullable Object> json, WorkerHolder.ModelStatus model) {
    List<Map<String, @Nullable Object>> ranks = new ArrayList<>();
    for (var load : model.load().ranks()) {
      ranks.add(json(ranks.size(), load));
    }
    json.put("model", model.model());
    json.put("ready", model.ready());
    json.put("asleep", model.asleep());
    json.put("cancelled", model.load().cancelled());
    long last = model.load().lastCancelNanos();
    json.put("last_cancel_age_nanos", last == 0 ? null : System.nanoTime() - last);
    json.put("ranks", ranks);
  }

  private static Map<String, @Nullable Object> json(int rank, RankLoad load) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("rank", rank);
    json.put("running", load.running());
    json.put("waiting", load.waiting());
    json.put("held_blocks", load.heldBlocks());
    json.put("cached_blocks", load.cachedBlocks());
    json.put("total_blocks", load.totalBlocks());
    json.put("prompt_tokens", load.promptTokens());
    json.put("cached_tokens", load.cachedTokens());
    json.put("corrupt_blocks", load.corruptBlocks());
    return json;
  }
}
