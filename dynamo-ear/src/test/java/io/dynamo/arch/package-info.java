/**
 * The shape of the code base as tests: which module and which package may import which. Start at
 * {@link io.dynamo.arch.ArchitectureRules}. Reads the compiled classes of all modules.
 */
@NullMarked
package io.dynamo.arch;

import org.jspecify.annotations.NullMarked;
