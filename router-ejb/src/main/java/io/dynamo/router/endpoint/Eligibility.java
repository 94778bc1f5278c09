package io.dynamo.router.endpoint;

import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.OverloadedException;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteHints;
import io.dynamo.router.RouteRequest;
import io.dynamo.router.load.BusyWorkers;
import io.dynamo.router.session.SessionTarget;
import io.dynamo.runtime.EndpointInstances;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Lists the ranks that may take a request: those of every live worker of its model that the request
 * allows, that has not failed it, that has the taints and the adapter it needs, and that is not
 * busy. Inhibited workers are taken only when no other is left. Safe for concurrent use.
 */
final class Eligibility {
  private final WorkerSet set;
  private final EndpointInstances instances;
  private final Function<Instance, WorkerTraits> traitsOf;
  private final BusyWorkers busy;

  /**
   * Creates a list of one set's ranks.
   *
   * @param set the set whose live workers are {@code instances}
   */
  Eligibility(
      WorkerSet set,
      EndpointInstances instances,
      Function<Instance, WorkerTraits> traitsOf,
      BusyWorkers busy) {
    this.set = set;
    this.instances = instances;
    this.traitsOf = traitsOf;
    this.busy = busy;
  }

  /**
   * Returns the candidates for {@code request}.
   *
   * @param bound the only worker or rank that may take it, by the request's session; null is all
   * @throws NoWorkerException when no rank is left
   * @throws OverloadedException when only busy workers are left
   * @throws InvalidRequestException when the pin contradicts the workers allowed
   */
  RankCandidates candidates(RouteRequest request, @Nullable SessionTarget bound) {
    var hints = request.hints();
    var pinned = bound != null ? bound.worker() : hints.pinnedWorker();
    var allowed = hints.allowedWorkers();
    if (pinned != null && allowed != null && !allowed.contains(pinned)) {
      throw new InvalidRequestException(
          "worker %s is asked for, but not among the workers allowed".formatted(pinned));
    }
    var live = instances.live();
    var inhibited = instances.inhibited();
    var search =
        new Search(
            request,
            pinned,
            bound == null || bound.rank() == null ? hints.pinnedRank() : bound.rank());
    search.among(live, inhibited);
    if (search.ranks.isEmpty() && !inhibited.isEmpty()) {
      search.among(live, Set.of());
    }
    if (search.ranks.isEmpty()) {
      throw search.nobody(live.size());
    }
    return new RankCandidates(search.found, search.ranks, search.traits, search.factors(hints));
  }

  /**
   * Whether {@code target} can serve {@code request}: its worker is live, has the rank, has not
   * failed the request, is allowed to take it and has what it requires. A busy worker counts, as it
   * can serve later.
   */
  boolean canServe(RouteRequest request, SessionTarget target) {
    var allowed = request.hints().allowedWorkers();
    if (request.excluded().contains(target.worker())
        || (allowed != null && !allowed.contains(target.worker()))) {
      return false;
    }
    var live = instances.live();
    for (var instance : live) {
      if (instance.id().equals(target.worker())) {
        var its = traitsOf.apply(instance);
        return (target.rank() == null || its.ranks().has(target.rank()))
            && fits(its, request, neededAdapter(request.hints(), live));
      }
    }
    return false;
  }

  private boolean fits(WorkerTraits its, RouteRequest request, @Nullable String adapter) {
    return its.taints().containsAll(request.hints().requiredTaints())
        && (adapter == null || its.adapters().contains(adapter))
        && serves(its, request.workers().model());
  }

  /**
   * Whether the worker serves {@code requested}. A name that is not the model's is that of an
   * adapter, which not every worker need have.
   */
  private boolean serves(WorkerTraits its, String requested) {
    return requested.equals(set.model()) || its.adapters().contains(requested);
  }

  /** Returns the adapter that {@code hints} name, if any worker has it; otherwise null. */
  private @Nullable String neededAdapter(RouteHints hints, List<Instance> live) {
    var lora = hints.loraName();
    if (lora != null) {
      for (var instance : live) {
        if (traitsOf.apply(instance).adapters().contains(lora)) {
          return lora;
        }
      }
    }
    return null;
  }

  /** Whether all ranks of the worker are busy. */
  private boolean isBusy(InstanceId id, WorkerTraits its) {
    for (int i = 0; i < its.ranks().count(); i++) {
      var rank = new WorkerRank(id, its.ranks().first() + i);
      if (!busy.isBusy(rank, its.totalBlocks(), its.maxBatchedTokens())) {
        return false;
      }
    }
    return true;
  }

  /** Whether there are live workers and every one of them is busy. */
  boolean allBusy() {
    if (!busy.isOn()) {
      return false;
    }
    var live = instances.live();
    for (var instance : live) {
      if (!isBusy(instance.id(), traitsOf.apply(instance))) {
        return false;
      }
    }
    return !live.isEmpty();
  }

  /** Returns the decider of which workers are busy. */
  BusyWorkers busy() {
    return busy;
  }

  private final class Search {
    final RouteRequest request;
    final @Nullable InstanceId pinned;
    final @Nullable Integer pinnedRank;
    final List<Instance> found = new ArrayList<>();
    final List<WorkerRank> ranks = new ArrayList<>();
    final List<WorkerTraits> traits = new ArrayList<>();
    int failed;
    int filtered;
    int overloaded;

    Search(RouteRequest request, @Nullable InstanceId pinned, @Nullable Integer pinnedRank) {
      this.request = request;
      this.pinned = pinned;
      this.pinnedRank = pinnedRank;
    }

    void among(List<Instance> live, Set<InstanceId> inhibited) {
      failed = 0;
      filtered = 0;
      overloaded = 0;
      var adapter = neededAdapter(request.hints(), live);
      for (var instance : live) {
        var id = instance.id();
        if (isAnother(id)) {
          continue;
        }
        if (request.excluded().contains(id) || inhibited.contains(id)) {
          failed++;
          continue;
        }
        var its = traitsOf.apply(instance);
        if (!fits(its, request, adapter)) {
          filtered++;
        } else if (busy.isOn() && isBusy(id, its)) {
          overloaded++;
        } else {
          take(instance, its);
        }
      }
    }

    private boolean isAnother(InstanceId id) {
      var allowed = request.hints().allowedWorkers();
      return (pinned != null && !pinned.equals(id)) || (allowed != null && !allowed.contains(id));
    }

    private void take(Instance instance, WorkerTraits its) {
      for (int i = 0; i < its.ranks().count(); i++) {
        int rank = its.ranks().first() + i;
        if (pinnedRank == null || pinnedRank == rank) {
          found.add(instance);
          ranks.add(new WorkerRank(instance.id(), rank));
          traits.add(its);
        }
      }
    }

    double @Nullable [] factors(RouteHints hints) {
      if (hints.preferredTaints().isEmpty() || pinned != null) {
        return null;
      }
      var factors = new double[ranks.size()];
      for (int i = 0; i < factors.length; i++) {
        double sum = 0;
        for (var taint : hints.preferredTaints().entrySet()) {
          sum += traits.get(i).taints().contains(taint.getKey()) ? taint.getValue() : 0;
        }
        factors[i] = Math.exp(-Math.tanh(sum));
      }
      return factors;
    }

    RuntimeException nobody(int known) {
      if (overloaded > 0) {
        return new OverloadedException(
            pinned != null
                ? "worker %s is busy; retry, or ask for no particular one".formatted(pinned)
                : "all %d workers that may take the request are busy; retry or add workers"
                    .formatted(overloaded));
      }
      if (filtered > 0) {
        return new NoWorkerException(
            "none of %d workers of %s has what the request requires (taints, adapter)"
                .formatted(filtered, request.workers()));
      }
      if (pinned != null && failed == 0) {
        return new NoWorkerException(
            pinnedRank == null
                ? "worker %s is not there".formatted(pinned)
                : "worker %s with rank %d is not there".formatted(pinned, pinnedRank));
      }
      return new NoWorkerException(request.workers(), known, failed);
    }
  }
}
