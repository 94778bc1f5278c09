/**
 * Token ids cut into blocks, and the hashes of blocks. Start at {@link
 * io.dynamo.token.BlockHashes}.
 */
@NullMarked
package io.dynamo.token;

import org.jspecify.annotations.NullMarked;
