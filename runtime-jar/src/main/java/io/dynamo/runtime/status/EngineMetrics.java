package io.dynamo.runtime.status;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.PrometheusText;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of engines in other processes, written beside our own with labels added that say
 * whose they are. Safe for concurrent use.
 */
public final class EngineMetrics {
  private static final System.Logger LOG = System.getLogger(EngineMetrics.class.getName());
  private static final int MAX_SAMPLES = 20_000; // of one engine
  private static final int NAME_AT = "# HELP ".length(); // in a line of help or type
  private static final Set<String> ENDINGS =
      Set.of("", "_bucket", "_sum", "_count", "_total", "_created", "_info");

  private final List<Engine> engines = new CopyOnWriteArrayList<>();

  /** One engine: the metrics whose names begin with {@code prefix} are taken from {@code text}. */
  private record Engine(String prefix, List<Label> labels, Supplier<String> text) {}

  /** One metric of all engines. */
  private static final class Family {
    private final StringBuilder samples = new StringBuilder();
    private @Nullable String help;
    private @Nullable String type;
  }

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

  /** Returns the metrics of all engines; those of an engine that fails are left out. */
  String write() {
    if (engines.isEmpty()) {
      return "";
    }
    var families = new LinkedHashMap<String, Family>();
    for (var engine : engines) {
      try {
        read(engine, families);
      } catch (RuntimeException e) {
        LOG.log(Level.WARNING, "the metrics of an engine cannot be read", e);
      }
    }
    var all = new StringBuilder();
    families.forEach(
        (name, family) -> {
          if (!family.samples.isEmpty()) {
            append(family.help, all);
            append(family.type, all);
            all.append(family.samples);
          }
        });
    return all.toString();
  }

  private static void append(@Nullable String line, StringBuilder to) {
    if (line != null) {
      to.append(line).append('\n');
    }
  }

  private static void read(Engine engine, Map<String, Family> families) {
    var current = "";
    int samples = 0;
    for (var line : (Iterable<String>) engine.text().get().lines()::iterator) {
      if (line.startsWith("# HELP ") || line.startsWith("# TYPE ")) {
        current = line.substring(NAME_AT, SampleLine.nameEnd(line, NAME_AT));
        if (current.startsWith(engine.prefix())) {
          var family = families.computeIfAbsent(current, _ -> new Family());
          if (line.charAt(2) == 'T') {
            family.type = line;
          } else if (family.help == null) {
            family.help = line;
          }
        }
      } else if (line.startsWith(engine.prefix()) && SampleLine.isOne(line)) {
        if (++samples > MAX_SAMPLES) {
          LOG.log(
              Level.DEBUG,
              "an engine has more than {0} samples; the others are left out",
              MAX_SAMPLES);
          return;
        }
        var name = isOf(current, line) ? current : line.substring(0, SampleLine.nameEnd(line, 0));
        var family = families.computeIfAbsent(name, _ -> new Family());
        addLabelled(line, engine.labels(), family.samples);
      }
    }
  }

  /** Whether the sample is of the family, by its name or one that ends as a histogram's do. */
  private static boolean isOf(String family, String sample) {
    if (family.isEmpty() || !sample.startsWith(family)) {
      return false;
    }
    var ending = sample.substring(family.length(), SampleLine.nameEnd(sample, 0));
    return ENDINGS.contains(ending);
  }

  private static void addLabelled(String line, List<Label> labels, StringBuilder to) {
    int end = SampleLine.nameEnd(line, 0);
    boolean labelled = end < line.length() && line.charAt(end) == '{';
    var rest = line.substring(labelled ? end + 1 : end);
    var added = new ArrayList<String>();
    for (var label : labels) {
      var start = label.key() + "=\"";
      if (!labelled || !(rest.startsWith(start) || rest.contains("," + start))) {
        added.add(PrometheusText.text(label));
      }
    }
    to.append(line, 0, end).append('{').append(String.join(",", added));
    if (labelled) {
      to.append(added.isEmpty() || rest.startsWith("}") ? "" : ",").append(rest);
    } else {
      to.append('}').append(rest);
    }
    to.append('\n');
  }
}
