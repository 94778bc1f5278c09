package io.dynamo.it;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One combination of a discovery backend, a request plane and an event plane, written {@code
 * etcd-nats-zmq}.
 */
record PlaneCell(String discovery, String requests, String events) {
  /** Two cells that hold each backend and each plane once. */
  private static final Set<String> SAMPLE = Set.of("file-nats-zmq", "etcd-tcp-nats");

  /** Where the servers of all cells are. */
  record Servers(String etcd, String nats) {}

  private static Stream<PlaneCell> all() {
    return Stream.of("file", "etcd")
        .flatMap(
            discovery ->
                Stream.of("tcp", "nats")
                    .flatMap(
                        requests ->
                            Stream.of("zmq", "nats")
                                .map(events -> new PlaneCell(discovery, requests, events))));
  }

  /**
   * The cells of this run: the one that {@code -Ddynamo.it.cell} names, all of the full tier, or
   * two.
   */
  static List<PlaneCell> drawn() {
    var named = System.getProperty("dynamo.it.cell", "");
    if (!named.isEmpty()) {
      var found = all().filter(cell -> cell.toString().equals(named)).toList();
      if (found.isEmpty()) {
        throw new IllegalArgumentException(
            "-Ddynamo.it.cell=%s is none of %s".formatted(named, all().toList()));
      }
      return found;
    }
    return Sampled.Condition.drawsAll(System.getProperty("dynamo.it.seed", ""))
        ? all().toList()
        : all().filter(cell -> SAMPLE.contains(cell.toString())).toList();
  }

  /** The variables that choose backend and planes, of Dynamo's processes and of ours. */
  Map<String, String> environment(Servers servers) {
    var all = new HashMap<String, String>();
    all.put("DYN_DISCOVERY_BACKEND", discovery);
    all.put("DYN_REQUEST_PLANE", requests);
    all.put("DYN_EVENT_PLANE", events);
    if (discovery.equals("etcd")) {
      all.put("ETCD_ENDPOINTS", servers.etcd());
    }
    if (requests.equals("nats") || events.equals("nats")) {
      all.put("NATS_SERVER", servers.nats());
    }
    return all;
  }

  @Override
  public String toString() {
    return "%s-%s-%s".formatted(discovery, requests, events);
  }
}
