package io.dynamo.event.nats;

import io.dynamo.event.EventHistory;
import io.dynamo.event.EventHistory.Snapshot;
import io.dynamo.event.EventSubject;
import io.dynamo.nats.NatsLink;
import io.nats.client.JetStreamApiException;
import io.nats.client.ObjectStore;
import io.nats.client.api.ObjectInfo;
import io.nats.client.api.ObjectMeta;
import io.nats.client.api.ObjectStoreConfiguration;
import io.nats.client.api.StorageType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The object-store bucket with the snapshot of one subject. The server checks an object against its
 * digest, so half of an upload is never read. Each call waits for the server. Safe for concurrent
 * use.
 */
final class SnapshotBucket {
  private static final String KEY = "radix-state";
  private static final String POSITION = "position";
  private static final int OBJECT_NOT_FOUND = 10037; // no message on its subject
  private static final int STREAM_NOT_FOUND = 10059;

  private final NatsLink link;
  private final String name;

  SnapshotBucket(NatsLink link, EventSubject subject) {
    this.link = link;
    this.name = EventStream.nameOf(subject.scope().subject() + "-radix-bucket");
  }

  private ObjectStore store() throws IOException {
    return link.connection().objectStore(name);
  }

  private @Nullable ObjectInfo info() throws IOException, JetStreamApiException {
    try {
      // first: the client remembers streams, and asks those that are gone until its time is up
      var _ = link.connection().objectStoreManagement().getStatus(name);
      return store().getInfo(KEY);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() == STREAM_NOT_FOUND || e.getApiErrorCode() == OBJECT_NOT_FOUND) {
        return null;
      }
      throw e;
    }
  }

  private static long positionOf(ObjectInfo info) throws IOException {
    var metadata = info.getMetaData();
    var text = metadata == null ? null : metadata.get(POSITION);
    try {
      if (text != null) {
        return Long.parseLong(text);
      }
    } catch (NumberFormatException _) {
      // answered like a missing one
    }
    throw new IOException("the snapshot says no position: it is of another program");
  }

  @Nullable Snapshot read() throws IOException {
    try {
      var info = info();
      if (info == null) {
        return null;
      }
      if (info.getSize() > EventHistory.MAX_SNAPSHOT_BYTES) {
        throw new IOException(
            "the snapshot has %d bytes, more than %d"
                .formatted(info.getSize(), EventHistory.MAX_SNAPSHOT_BYTES));
      }
      var content = new ByteArrayOutputStream();
      var got = store().get(KEY, content);
      return new Snapshot(positionOf(got), content.toByteArray());
    } catch (JetStreamApiException e) {
      throw refused("read", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("the JVM has no SHA-256", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the snapshot was read", e);
    }
  }

  boolean write(Snapshot snapshot) throws IOException {
    try {
      ensure();
      var known = info();
      if (known != null && positionOf(known) > snapshot.position()) {
        return false;
      }
      var _ =
          store()
              .put(
                  ObjectMeta.builder(KEY)
                      .metadata(Map.of(POSITION, Long.toString(snapshot.position())))
                      .build(),
                  new ByteArrayInputStream(snapshot.content()));
      return true;
    } catch (JetStreamApiException e) {
      throw refused("written", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("the JVM has no SHA-256", e);
    }
  }

  private void ensure() throws IOException, JetStreamApiException {
    var buckets = link.connection().objectStoreManagement();
    try {
      var _ = buckets.getStatus(name);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() != STREAM_NOT_FOUND) {
        throw e;
      }
      var _ =
          buckets.create(
              ObjectStoreConfiguration.builder(name).storageType(StorageType.File).build());
    }
  }

  void delete() throws IOException {
    try {
      link.connection().objectStoreManagement().delete(name);
    } catch (JetStreamApiException e) {
      if (e.getApiErrorCode() != STREAM_NOT_FOUND) {
        throw refused("deleted", e);
      }
    }
  }

  private IOException refused(String what, JetStreamApiException cause) {
    return new IOException(
        "the snapshot in bucket %s is not %s: %s"
            .formatted(name, what, cause.getErrorDescription()),
        cause);
  }
}
