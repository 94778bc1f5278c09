package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.llama.LlamaForwardPass.Segment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes a plan whose sequences may have different weights: those of the model, or of an adapter.
 * Each set of weights is one pass, which changes no sequence's numbers. Used by the rank's thread.
 */
final class WeightGroups {
  private record Group(List<Segment> segments, List<Integer> places) {}

  private WeightGroups() {}

  /** Computes the plan and reports each segment to {@code sink} by its index in the plan. */
  static void run(LlamaForwardPass pass, PassPlan plan, LlamaForwardPass.Sink sink) {
    var first = plan.parts().getFirst().generation().by;
    boolean alike = true;
    for (int i = 1; i < plan.parts().size(); i++) {
      alike &= plan.parts().get(i).generation().by == first;
    }
    if (alike) {
      pass.run(first.weights, plan.segments(), sink);
      return;
    }
    Map<AdaptedModel, Group> groups = new HashMap<>(); // keyed by identity
    for (int i = 0; i < plan.parts().size(); i++) {
      var group =
          groups.computeIfAbsent(
              plan.parts().get(i).generation().by,
              _ -> new Group(new ArrayList<>(), new ArrayList<>()));
      group.segments.add(plan.segments().get(i));
      group.places.add(i);
    }
    groups.forEach(
        (by, group) ->
            pass.run(by.weights, group.segments, new RenumberingSink(sink, group.places)));
  }

  /** Forwards results under the segments' indexes in the plan. */
  private record RenumberingSink(LlamaForwardPass.Sink sink, List<Integer> places)
      implements LlamaForwardPass.Sink {
    @Override
    public void logits(int segment, float[] logits, int at) {
      sink.logits(places.get(segment), logits, at);
    }

    @Override
    public void poisoned(int segment) {
      sink.poisoned(places.get(segment));
    }
  }
}
