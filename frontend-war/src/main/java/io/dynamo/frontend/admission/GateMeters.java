package io.dynamo.frontend.admission;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;

/** Counts requests that wait for one model or are refused by it. */
final class GateMeters {
  private final Metrics metrics;
  private final Label model;
  private final Metrics.Level waiting;

  GateMeters(Metrics metrics, String model) {
    this.metrics = metrics;
    this.model = new Label("model", model);
    this.waiting = metrics.level(FrontendMetrics.ADMISSION_WAITING, this.model);
  }

  void began() {
    waiting.add(1);
  }

  /** Records the end of a wait, whether or not the request was admitted. */
  void waited(long nanos) {
    waiting.add(-1);
    metrics.timer(FrontendMetrics.ADMISSION_WAIT, model).record(nanos);
  }

  void refused(RefusalReason reason) {
    metrics.counter(FrontendMetrics.ADMISSION_REFUSED, model, reason.label()).increment();
  }
}
