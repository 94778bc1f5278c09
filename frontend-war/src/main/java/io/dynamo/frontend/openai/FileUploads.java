package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.batches.BatchStore;
import io.dynamo.frontend.batches.FileStore;
import io.dynamo.frontend.batches.MultipartReader;
import io.dynamo.frontend.openai.wire.BatchJson;
import io.dynamo.frontend.openai.wire.BatchRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Takes files from forms into the store, piece by piece. Safe for concurrent use.
 *
 * @param time for a whole form
 */
record FileUploads(BatchStore store, Duration time) {
  private static final int LOADING = 3; // copies of a piece, while the database's driver has it
  private static final int MAX_FIELD = 1024;
  private static final int MAX_NAME = 250;
  private static final String ANCHOR = "expires_after[anchor]";
  private static final String SECONDS = "expires_after[seconds]";
  private static final Set<String> FIELDS = Set.of("purpose", ANCHOR, SECONDS);

  /**
   * Reads a form and keeps its file. Until it is read, its memory and its place may go to other
   * requests.
   *
   * @return the file, as JSON
   * @throws ApiException with 400, 408, 413 or 415, with 503 when the database is down, or others
   *     took the room
   */
  byte[] take(
      String owner, @Nullable String contentType, InputStream body, AdmittedCalls.Place place)
      throws InterruptedException {
    var form = MultipartReader.open(contentType, new DeadlineStream(body, Deadline.after(time)));
    var piece = new ArrivingPiece(FileStore.PIECE_BYTES);
    place.share().onYield(piece::clear);
    place.share().chargeArrived(MultipartReader.BYTES);
    FileStore.Upload upload = null;
    String name = "";
    var fields = new HashMap<String, String>();
    try {
      for (var part = form.next(); part != null; part = form.next()) {
        if (part.name().equals("file")) {
          if (upload != null) {
            throw refuse("file", "the form has two parts `file`");
          }
          name = name(part.file());
          upload = store.files().upload(owner);
          copy(form, upload, piece, place.share());
        } else if (!FIELDS.contains(part.name())) {
          throw refuse(part.name(), "unknown field `%s`".formatted(ApiError.shown(part.name())));
        } else if (fields.put(part.name(), field(form, part.name())) != null) {
          throw refuse(part.name(), "the form has two parts `%s`".formatted(part.name()));
        }
      }
      if (upload == null) {
        throw refuse("file", "the form has no part `file`");
      }
      checkPurpose(fields);
      if (upload.bytes() == 0) {
        throw refuse("file", "the file is empty");
      }
      place.account().bodyArrived();
      place.share().chargeComplete(MultipartReader.BYTES);
      return BatchJson.file(upload.complete(name, keep(fields)));
    } catch (SocketTimeoutException e) {
      throw new ApiException(
          408,
          "The form did not arrive within the %d ms of dynamo.frontend.upload-timeout; send it faster"
              .formatted(time.toMillis()));
    } catch (IOException e) {
      throw new ApiException(400, "The request's body could not be read to its end");
    } finally {
      if (upload != null) {
        upload.close();
      }
    }
  }

  /** Copies a part; charges for the piece as it grows, and for its way to the database. */
  private static void copy(
      MultipartReader form, FileStore.Upload upload, ArrivingPiece piece, BodyBudget.Share share)
      throws IOException, InterruptedException {
    var part = new byte[MultipartReader.BYTES / 4];
    for (int count = form.read(part); count >= 0; count = form.read(part)) {
      for (int at = 0; at < count; ) {
        share.chargeArrived((long) MultipartReader.BYTES + piece.capacityFor(count - at));
        at += piece.add(part, at, count - at); // nothing when it was cleared: the charge fails next
        if (piece.isFull()) {
          keep(piece, upload, share);
        }
      }
    }
    keep(piece, upload, share);
  }

  private static void keep(ArrivingPiece piece, FileStore.Upload upload, BodyBudget.Share share)
      throws InterruptedException {
    share.chargeArrived((long) MultipartReader.BYTES + LOADING * (long) FileStore.PIECE_BYTES);
    var bytes = piece.drain();
    if (bytes.length > 0) {
      upload.append(bytes);
    }
    share.chargeArrived(MultipartReader.BYTES);
  }

  private static String field(MultipartReader form, String name) throws IOException {
    var value = new byte[MAX_FIELD];
    int length = 0;
    var part = new byte[MAX_FIELD];
    for (int count = form.read(part); count >= 0; count = form.read(part)) {
      if (length + count > MAX_FIELD) {
        throw refuse(name, "`%s` has more than %d bytes".formatted(name, MAX_FIELD));
      }
      System.arraycopy(part, 0, value, length, count);
      length += count;
    }
    return new String(value, 0, length, StandardCharsets.UTF_8);
  }

  /** A name without folders and without characters that a terminal or a database may not take. */
  private static String name(@Nullable String given) {
    var name = Objects.requireNonNullElse(given, "");
    name = name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
    name = ApiError.shown(name.replaceAll("\\p{Cntrl}", "")).strip();
    if (name.length() > MAX_NAME) {
      throw refuse("file", "the name of the file has more than %d characters".formatted(MAX_NAME));
    }
    return name.isEmpty() ? "file.jsonl" : name;
  }

  private static void checkPurpose(Map<String, String> fields) {
    var purpose = fields.get("purpose");
    if (purpose == null) {
      throw refuse("purpose", "`purpose` is missing; it must be \"batch\"");
    }
    if (!purpose.equals("batch")) {
      throw refuse(
          "purpose",
          "`purpose` is \"%s\", but must be \"batch\"".formatted(ApiError.shown(purpose)));
    }
  }

  private Duration keep(Map<String, String> fields) {
    var anchor = fields.get(ANCHOR);
    if (anchor != null && !anchor.equals("created_at")) {
      throw refuse(ANCHOR, "`%s` must be \"created_at\"".formatted(ANCHOR));
    }
    var seconds =
        BatchJson.seconds(
            fields.get(SECONDS), BatchRequest.MIN_KEEP, BatchRequest.MAX_KEEP, SECONDS);
    return store.keep(seconds == null ? 0 : seconds);
  }

  private static ApiException refuse(String param, String message) {
    return new ApiException(new ApiError(400, message, null, ApiError.shown(param), null));
  }

  /** Ends when its time is over, between two reads. */
  private static final class DeadlineStream extends InputStream {
    private final InputStream in;
    private final Deadline deadline;

    DeadlineStream(InputStream in, Deadline deadline) {
      this.in = in;
      this.deadline = deadline;
    }

    @Override
    public int read() throws IOException {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int at, int length) throws IOException {
      if (deadline.isExpired()) {
        throw new SocketTimeoutException("the form takes too long");
      }
      return in.read(into, at, length);
    }
  }
}
