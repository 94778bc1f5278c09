package io.dynamo.runtime.status;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.PrometheusText;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The metric families of engines' servers during one scrape, those of the same name put together: a
 * text that has a family twice is refused whole by those who read it. For one thread.
 */
final class ServerFamilies {
  private static final System.Logger LOG = System.getLogger(ServerFamilies.class.getName());
  private static final int MAX_SAMPLES = 20_000; // of one server
  private static final String HELP = "# HELP ";
  private static final String TYPE = "# TYPE ";
  private static final Set<String> TYPES =
      Set.of("counter", "gauge", "histogram", "summary", "untyped");
  private static final Set<String> ENDINGS =
      Set.of("", "_bucket", "_sum", "_count", "_total", "_created", "_info");

  /** One family of all servers. */
  private static final class Family {
    private final StringBuilder samples = new StringBuilder();
    private @Nullable String help; // the line
    private @Nullable String type; // null while no server has said it

    /** Writes the family; without its head where one stands already. */
    void write(String name, boolean withHead, StringBuilder to) {
      if (withHead && help != null) {
        to.append(help).append('\n');
      }
      if (withHead && type != null) {
        to.append(TYPE).append(name).append(' ').append(type).append('\n');
      }
      to.append(samples);
    }
  }

  private final Map<String, Family> families = new LinkedHashMap<>();

  /**
   * Reads the metrics of one server. Lines that are no sample are left out, and so are samples of a
   * family that another server has under another type.
   *
   * @param prefix how the names begin that are taken
   * @param labels added to each sample, unless it has one of that name
   */
  void read(String prefix, List<Label> labels, String text) {
    var current = "";
    boolean refused = false; // the current family
    int samples = 0;
    for (var line : (Iterable<String>) text.lines()::iterator) {
      if (line.startsWith(HELP) || line.startsWith(TYPE)) {
        int end = SampleLine.nameEnd(line, HELP.length());
        var name = line.substring(HELP.length(), end);
        refused = name.equals(current) && refused;
        current = name;
        if (current.startsWith(prefix)) {
          refused |= !describe(families.computeIfAbsent(current, _ -> new Family()), line, end);
        }
      } else if (line.startsWith(prefix) && SampleLine.isOne(line)) {
        if (++samples > MAX_SAMPLES) {
          LOG.log(
              Level.DEBUG,
              "an engine has more than {0} samples; the others are left out",
              MAX_SAMPLES);
          return;
        }
        boolean ofCurrent = isOf(current, line);
        if (!ofCurrent || !refused) {
          var name = ofCurrent ? current : line.substring(0, SampleLine.nameEnd(line, 0));
          addLabelled(line, labels, families.computeIfAbsent(name, _ -> new Family()).samples);
        }
      }
    }
  }

  /** Takes a line of help or type; returns false for a type other than the family's. */
  private static boolean describe(Family family, String line, int nameEnd) {
    if (line.startsWith(HELP)) {
      if (family.help == null && line.startsWith(" ", nameEnd)) {
        family.help = line;
      }
      return true;
    }
    var type = line.substring(nameEnd).strip();
    if (!TYPES.contains(type)) {
      return true; // as if it were not said
    }
    if (family.type == null && family.samples.isEmpty()) {
      family.type = type;
    }
    return type.equals(family.type == null ? "untyped" : family.type);
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

  /**
   * Adds the families to a text. The samples of a family that the text has already stand behind its
   * own; where its type is another one there, they are left out.
   *
   * @param own a text of Prometheus' format in which each family has a help and a type
   */
  String writeAfter(String own) {
    var all = new StringBuilder(own);
    families.forEach(
        (name, family) -> {
          if (family.samples.isEmpty()) {
            return;
          }
          int type = typeAt(all, name);
          if (type < 0) {
            family.write(name, true, all);
          } else if (all.indexOf(family.type + "\n", type) == type) {
            int next = all.indexOf("\n# ", type);
            var samples = new StringBuilder();
            family.write(name, false, samples);
            all.insert(next < 0 ? all.length() : next + 1, samples);
          } else {
            LOG.log(
                Level.DEBUG,
                "{0} of an engine is a {1}, our own is not; the engine''s is left out",
                name,
                family.type);
          }
        });
    return all.toString();
  }

  /** Returns where the type of the family stands in the text; -1 when the family is not there. */
  private static int typeAt(StringBuilder text, String name) {
    var line = TYPE + name + ' ';
    int at = text.indexOf(line);
    while (at > 0 && text.charAt(at - 1) != '\n') {
      at = text.indexOf(line, at + 1);
    }
    return at < 0 ? -1 : at + line.length();
  }
}
