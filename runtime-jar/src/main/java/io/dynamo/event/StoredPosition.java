package io.dynamo.event;

/**
 * A place among the stored events of a subject. Positions of different lives have no order: the
 * store was deleted and made anew between them.
 *
 * @param life of the store that numbers the events; kept across restarts, never used again
 * @param number of an event, from 1, in the order in which the store received them; 0 is before all
 */
public record StoredPosition(long life, long number) {}
