package io.dynamo.runtime.status;

import io.dynamo.metrics.Label;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * The metrics of engines in other processes, written beside our own with labels that name their
 * worker. Safe for concurrent use.
 */
public final class EngineMetrics {
  private static final System.Logger LOG = System.getLogger(EngineMetrics.class.getName());
  private final List<Engine> engines = new CopyOnWriteArrayList<>();

  /** One engine: the metrics whose names begin with {@code prefix} are taken from {@code text}. */
  private record Engine(String prefix, List<Label> labels, Supplier<String> text) {}

  /**
   * Adds an engine.
   *
   * @param prefix how the names begin that are taken
   * @param labels added to each sample, unless the engine has one of that name
   * @param text returns the engine's metrics in Prometheus' text format; called for each scrape, on
   *     its thread, and must end soon
   */
  public Registered add(String prefix, List<Label> labels, Supplier<String> text) {
    var engine = new Engine(prefix, List.copyOf(labels), text);
    engines.add(engine);
    return () -> engines.remove(engine);
  }

  /**
   * Adds the metrics of all engines to {@code own}, each family once; those of an engine that fails
   * are left out.
   *
   * @param own this process's metrics in Prometheus' text format, each family with help and type
   */
  String writeAfter(String own) {
    if (engines.isEmpty()) {
      return own;
    }
    var families = new ServerFamilies();
    for (var engine : engines) {
      try {
        families.read(engine.prefix(), engine.labels(), engine.text().get());
      } catch (RuntimeException e) {
        LOG.log(Level.WARNING, "the metrics of an engine cannot be read", e);
      }
    }
    return families.writeAfter(own);
  }
}
