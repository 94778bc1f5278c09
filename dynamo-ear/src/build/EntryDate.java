import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.zip.CRC32;

/**
 * Prints the date that the entries of an archive get, made from the content of the given files: the
 * same for the same content, and another one, but for one chance in eight million, for other
 * content. All dates are in the first half of 2026, two seconds apart as in ZIP files.
 */
class EntryDate {
  private static final Instant FIRST = Instant.parse("2026-01-01T00:00:00Z");
  private static final long DATES = 1 << 23;

  public static void main(String[] files) throws IOException {
    var sum = new CRC32();
    for (var file : files) {
      sum.update(Files.readAllBytes(Path.of(file)));
    }
    System.out.print(FIRST.plusSeconds(2 * (sum.getValue() % DATES)));
  }
}
