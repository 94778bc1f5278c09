package io.dynamo.frontend.openai;

import io.dynamo.frontend.admission.TokenPace;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.RouteTrace;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the token times of each text under its current worker. For one thread. */
final class WorkerPace implements TokenPace {
  private final WorkerGauges workers;
  private final List<RouteTrace> trails;
  private RouteTrace.@Nullable Place place; // looked up last
  private WorkerGauges.@Nullable Pace pace; // there

  /**
   * @param trails of the texts, as they are started
   */
  WorkerPace(WorkerGauges workers, List<RouteTrace> trails) {
    this.workers = workers;
    this.trails = trails;
  }

  @Override
  public void firstToken(int choice, double seconds, int promptTokens) {
    var now = at(choice);
    if (now != null) {
      now.firstToken(seconds, promptTokens);
    }
  }

  @Override
  public void nextToken(int choice, double seconds) {
    var now = at(choice);
    if (now != null) {
      now.nextToken(seconds);
    }
  }

  private WorkerGauges.@Nullable Pace at(int choice) {
    var latest = choice < trails.size() ? trails.get(choice).latest() : null;
    if (latest == null) {
      return null;
    }
    if (!latest.equals(place)) {
      place = latest;
      pace = workers.pace(latest.worker(), latest.rank());
    }
    return pace;
  }
}
