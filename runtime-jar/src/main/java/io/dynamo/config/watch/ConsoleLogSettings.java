package io.dynamo.config.watch;

/**
 * The lines that requests leave on the console. Keys: {@code dynamo.log.*}.
 *
 * @param leastStatus only requests with this HTTP status or a higher one leave a line
 */
public record ConsoleLogSettings(ConsoleLog format, int leastStatus) {}
