#include "kernels.h"

// PTX, compiled for the GPU at hand by its driver. Threads of a block share a chunk, blocks share the list,
// so that one large copy, once cut, spreads over the whole GPU. Strings are joined by the preprocessor.

// Copies chunk after chunk. Wants %list, the address of the list; FIELD loads from its state space.
#define COPY_BODY(FIELD)                                                                                    \
  "  mov.u32 %me32, %tid.x;\n"                                                                              \
  "  mov.u32 %threads32, %ntid.x;\n"                                                                        \
  "  mov.u32 %chunk32, %ctaid.x;\n"                                                                         \
  "  mov.u32 %grid32, %nctaid.x;\n"                                                                         \
  "  cvt.u64.u32 %me, %me32;\n"                                                                             \
  "  cvt.u64.u32 %threads, %threads32;\n"                                                                   \
  "  cvt.u64.u32 %chunk, %chunk32;\n"                                                                       \
  "  cvt.u64.u32 %grid, %grid32;\n"                                                                         \
  "  mul.lo.u64 %threads3, %threads, 3;\n"                                                                  \
  "  mul.lo.u64 %threads4, %threads, 4;\n"                                                                  \
  "NEXT_CHUNK:\n"                                                                                           \
  "  setp.ge.u64 %p, %chunk, %count;\n"                                                                     \
  "  @%p bra DONE;\n"                                                                                       \
  "  mul.lo.u64 %at, %chunk, 24;\n"                                                                         \
  "  add.u64 %at, %at, %list;\n"                                                                            \
  "  " FIELD                                                                                                \
  " %src, [%at];\n"                                                                                         \
  "  " FIELD                                                                                                \
  " %dst, [%at+8];\n"                                                                                       \
  "  " FIELD                                                                                                \
  " %len, [%at+16];\n" /* the widest unit by which both addresses can advance together: 16, 4 or 1 bytes */ \
  "  xor.b64 %odd, %src, %dst;\n"                                                                           \
  "  and.b64 %low, %odd, 15;\n"                                                                             \
  "  setp.eq.u64 %p16, %low, 0;\n"                                                                          \
  "  and.b64 %low, %odd, 3;\n"                                                                              \
  "  setp.eq.u64 %p4, %low, 0;\n"                                                                           \
  "  mov.u64 %mask, 0;\n"                                                                                   \
  "  mov.u32 %shift, 0;\n"                                                                                  \
  "  @%p4 mov.u64 %mask, 3;\n"                                                                              \
  "  @%p4 mov.u32 %shift, 2;\n"                                                                             \
  "  @%p16 mov.u64 %mask, 15;\n"                                                                            \
  "  @%p16 mov.u32 %shift, 4;\n" /* head: bytes up to the first aligned address; body: whole units; tail:   \
                                    the rest */                                                             \
  "  neg.s64 %head, %dst;\n"                                                                                \
  "  and.b64 %head, %head, %mask;\n"                                                                        \
  "  min.u64 %head, %head, %len;\n"                                                                         \
  "  sub.u64 %left, %len, %head;\n"                                                                         \
  "  shr.u64 %units, %left, %shift;\n"                                                                      \
  "  shl.b64 %body, %units, %shift;\n"                                                                      \
  "  add.u64 %tailAt, %head, %body;\n"                                                                      \
  "  add.u64 %bodySrc, %src, %head;\n"                                                                      \
  "  add.u64 %bodyDst, %dst, %head;\n"                                                                      \
  "  mov.u64 %i, %me;\n"                                                                                    \
  "HEAD:\n"                                                                                                 \
  "  setp.ge.u64 %p, %i, %head;\n"                                                                          \
  "  @%p bra HEAD_DONE;\n"                                                                                  \
  "  add.u64 %from, %src, %i;\n"                                                                            \
  "  add.u64 %to, %dst, %i;\n"                                                                              \
  "  ld.global.u8 %b, [%from];\n"                                                                           \
  "  st.global.u8 [%to], %b;\n"                                                                             \
  "  add.u64 %i, %i, %threads;\n"                                                                           \
  "  bra HEAD;\n"                                                                                           \
  "HEAD_DONE:\n"                                                                                            \
  "  add.u64 %i, %tailAt, %me;\n"                                                                           \
  "TAIL:\n"                                                                                                 \
  "  setp.ge.u64 %p, %i, %len;\n"                                                                           \
  "  @%p bra TAIL_DONE;\n"                                                                                  \
  "  add.u64 %from, %src, %i;\n"                                                                            \
  "  add.u64 %to, %dst, %i;\n"                                                                              \
  "  ld.global.u8 %b, [%from];\n"                                                                           \
  "  st.global.u8 [%to], %b;\n"                                                                             \
  "  add.u64 %i, %i, %threads;\n"                                                                           \
  "  bra TAIL;\n"                                                                                           \
  "TAIL_DONE:\n"                                                                                            \
  "  mov.u64 %i, %me;\n"                                                                                    \
  "  @%p16 bra VECTORS;\n"                                                                                  \
  "  @%p4 bra WORDS;\n"                                                                                     \
  "BYTES:\n"                                                                                                \
  "  setp.ge.u64 %p, %i, %units;\n"                                                                         \
  "  @%p bra CHUNK_DONE;\n"                                                                                 \
  "  add.u64 %from, %bodySrc, %i;\n"                                                                        \
  "  add.u64 %to, %bodyDst, %i;\n"                                                                          \
  "  ld.global.u8 %b, [%from];\n"                                                                           \
  "  st.global.u8 [%to], %b;\n"                                                                             \
  "  add.u64 %i, %i, %threads;\n"                                                                           \
  "  bra BYTES;\n"                                                                                          \
  "WORDS:\n"                                                                                                \
  "  setp.ge.u64 %p, %i, %units;\n"                                                                         \
  "  @%p bra CHUNK_DONE;\n"                                                                                 \
  "  shl.b64 %at, %i, 2;\n"                                                                                 \
  "  add.u64 %from, %bodySrc, %at;\n"                                                                       \
  "  add.u64 %to, %bodyDst, %at;\n"                                                                         \
  "  ld.global.u32 %w, [%from];\n"                                                                          \
  "  st.global.u32 [%to], %w;\n"                                                                            \
  "  add.u64 %i, %i, %threads;\n"                                                                           \
  "  bra WORDS;\n" /* four vectors of a thread are on their way at once */                                  \
  "VECTORS:\n"                                                                                              \
  "  shl.b64 %stride, %threads, 4;\n"                                                                       \
  "VECTORS4:\n"                                                                                             \
  "  add.u64 %last, %i, %threads3;\n"                                                                       \
  "  setp.ge.u64 %p, %last, %units;\n"                                                                      \
  "  @%p bra VECTORS1;\n"                                                                                   \
  "  shl.b64 %at, %i, 4;\n"                                                                                 \
  "  add.u64 %from, %bodySrc, %at;\n"                                                                       \
  "  add.u64 %to, %bodyDst, %at;\n"                                                                         \
  "  ld.global.v2.u64 {%a0, %a1}, [%from];\n"                                                               \
  "  add.u64 %from, %from, %stride;\n"                                                                      \
  "  ld.global.v2.u64 {%b0, %b1}, [%from];\n"                                                               \
  "  add.u64 %from, %from, %stride;\n"                                                                      \
  "  ld.global.v2.u64 {%c0, %c1}, [%from];\n"                                                               \
  "  add.u64 %from, %from, %stride;\n"                                                                      \
  "  ld.global.v2.u64 {%d0, %d1}, [%from];\n"                                                               \
  "  st.global.v2.u64 [%to], {%a0, %a1};\n"                                                                 \
  "  add.u64 %to, %to, %stride;\n"                                                                          \
  "  st.global.v2.u64 [%to], {%b0, %b1};\n"                                                                 \
  "  add.u64 %to, %to, %stride;\n"                                                                          \
  "  st.global.v2.u64 [%to], {%c0, %c1};\n"                                                                 \
  "  add.u64 %to, %to, %stride;\n"                                                                          \
  "  st.global.v2.u64 [%to], {%d0, %d1};\n"                                                                 \
  "  add.u64 %i, %i, %threads4;\n"                                                                          \
  "  bra VECTORS4;\n"                                                                                       \
  "VECTORS1:\n"                                                                                             \
  "  setp.ge.u64 %p, %i, %units;\n"                                                                         \
  "  @%p bra CHUNK_DONE;\n"                                                                                 \
  "  shl.b64 %at, %i, 4;\n"                                                                                 \
  "  add.u64 %from, %bodySrc, %at;\n"                                                                       \
  "  add.u64 %to, %bodyDst, %at;\n"                                                                         \
  "  ld.global.v2.u64 {%a0, %a1}, [%from];\n"                                                               \
  "  st.global.v2.u64 [%to], {%a0, %a1};\n"                                                                 \
  "  add.u64 %i, %i, %threads;\n"                                                                           \
  "  bra VECTORS1;\n"                                                                                       \
  "CHUNK_DONE:\n"                                                                                           \
  "  add.u64 %chunk, %chunk, %grid;\n"                                                                      \
  "  bra NEXT_CHUNK;\n"                                                                                     \
  "DONE:\n"                                                                                                 \
  "  ret;\n"                                                                                                \
  "}\n"

#define COPY_REGISTERS                                                                                      \
  "  .reg .pred %p, %p16, %p4;\n"                                                                           \
  "  .reg .b32 %me32, %threads32, %chunk32, %grid32, %shift, %w;\n"                                         \
  "  .reg .b16 %b;\n"                                                                                       \
  "  .reg .b64 %list, %count, %me, %threads, %threads3, %threads4, %chunk, %grid, %at, %src, %dst, %len;\n" \
  "  .reg .b64 %odd, %low, %mask, %head, %left, %units, %body, %tailAt, %bodySrc, %bodyDst, %i, %from;\n"   \
  "  .reg .b64 %to, %stride, %last, %a0, %a1, %b0, %b1, %c0, %c1, %d0, %d1;\n"

// Moves units between two orders of four dimensions: one thread, one unit. The index of a unit is
// ((((block · d0 + i0) · d1 + i1) · d2 + i2) · d3 + i3) · units of a run + unit of it.
#define PERMUTE(NAME, SHIFT, REGISTERS, LOAD, STORE)                                         \
  ".visible .entry " NAME                                                                    \
  "(.param .align 8 .b8 p[104])\n"                                                           \
  "{\n"                                                                                      \
  "  .reg .pred %p;\n"                                                                       \
  "  .reg .b32 %me, %threads, %cta, %grid, %i, %step, %run, %d1, %d2, %d3, %blockUnits;\n"   \
  "  .reg .b32 %units, %rest, %unit, %i0, %i1, %i2, %i3, %block, %mod;\n"                    \
  "  .reg .b64 %list, %wide, %at, %from, %to, %s0, %s1, %s2, %s3, %t0, %t1, %t2, %t3, %x;\n" \
  "  " REGISTERS                                                                             \
  "\n"                                                                                       \
  "  ld.param.u64 %list, [p];\n"                                                             \
  "  ld.param.u64 %wide, [p+8];\n"                                                           \
  "  cvt.u32.u64 %units, %wide;\n"                                                           \
  "  ld.param.u32 %run, [p+16];\n"                                                           \
  "  ld.param.u32 %d1, [p+20];\n"                                                            \
  "  ld.param.u32 %d2, [p+24];\n"                                                            \
  "  ld.param.u32 %d3, [p+28];\n"                                                            \
  "  ld.param.u64 %wide, [p+32];\n"                                                          \
  "  cvt.u32.u64 %blockUnits, %wide;\n"                                                      \
  "  ld.param.u64 %s0, [p+40];\n"                                                            \
  "  ld.param.u64 %s1, [p+48];\n"                                                            \
  "  ld.param.u64 %s2, [p+56];\n"                                                            \
  "  ld.param.u64 %s3, [p+64];\n"                                                            \
  "  ld.param.u64 %t0, [p+72];\n"                                                            \
  "  ld.param.u64 %t1, [p+80];\n"                                                            \
  "  ld.param.u64 %t2, [p+88];\n"                                                            \
  "  ld.param.u64 %t3, [p+96];\n"                                                            \
  "  mov.u32 %me, %tid.x;\n"                                                                 \
  "  mov.u32 %threads, %ntid.x;\n"                                                           \
  "  mov.u32 %cta, %ctaid.x;\n"                                                              \
  "  mov.u32 %grid, %nctaid.x;\n"                                                            \
  "  mad.lo.u32 %i, %cta, %threads, %me;\n"                                                  \
  "  mul.lo.u32 %step, %grid, %threads;\n"                                                   \
  "NEXT:\n"                                                                                  \
  "  setp.ge.u32 %p, %i, %units;\n"                                                          \
  "  @%p bra DONE;\n"                                                                        \
  "  div.u32 %block, %i, %blockUnits;\n"                                                     \
  "  mul.lo.u32 %mod, %block, %blockUnits;\n"                                                \
  "  sub.u32 %rest, %i, %mod;\n"                                                             \
  "  rem.u32 %unit, %rest, %run;\n"                                                          \
  "  div.u32 %rest, %rest, %run;\n"                                                          \
  "  rem.u32 %i3, %rest, %d3;\n"                                                             \
  "  div.u32 %rest, %rest, %d3;\n"                                                           \
  "  rem.u32 %i2, %rest, %d2;\n"                                                             \
  "  div.u32 %rest, %rest, %d2;\n"                                                           \
  "  rem.u32 %i1, %rest, %d1;\n"                                                             \
  "  div.u32 %i0, %rest, %d1;\n"                                                             \
  "  mul.wide.u32 %at, %block, 16;\n"                                                        \
  "  add.u64 %at, %at, %list;\n"                                                             \
  "  ld.global.u64 %from, [%at];\n"                                                          \
  "  ld.global.u64 %to, [%at+8];\n"                                                          \
  "  cvt.u64.u32 %x, %i0;\n"                                                                 \
  "  mad.lo.u64 %from, %x, %s0, %from;\n"                                                    \
  "  mad.lo.u64 %to, %x, %t0, %to;\n"                                                        \
  "  cvt.u64.u32 %x, %i1;\n"                                                                 \
  "  mad.lo.u64 %from, %x, %s1, %from;\n"                                                    \
  "  mad.lo.u64 %to, %x, %t1, %to;\n"                                                        \
  "  cvt.u64.u32 %x, %i2;\n"                                                                 \
  "  mad.lo.u64 %from, %x, %s2, %from;\n"                                                    \
  "  mad.lo.u64 %to, %x, %t2, %to;\n"                                                        \
  "  cvt.u64.u32 %x, %i3;\n"                                                                 \
  "  mad.lo.u64 %from, %x, %s3, %from;\n"                                                    \
  "  mad.lo.u64 %to, %x, %t3, %to;\n"                                                        \
  "  cvt.u64.u32 %x, %unit;\n"                                                               \
  "  shl.b64 %x, %x, " SHIFT                                                                 \
  ";\n"                                                                                      \
  "  add.u64 %from, %from, %x;\n"                                                            \
  "  add.u64 %to, %to, %x;\n"                                                                \
  "  " LOAD                                                                                  \
  "\n"                                                                                       \
  "  " STORE                                                                                 \
  "\n"                                                                                       \
  "  add.u32 %i, %i, %step;\n"                                                               \
  "  bra NEXT;\n"                                                                            \
  "DONE:\n"                                                                                  \
  "  ret;\n"                                                                                 \
  "}\n"

namespace dynamo::cuda {

const char* const kModule =
    ".version 6.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry copy_list_inline(.param .align 8 .b8 p[4040])\n"
    "{\n" COPY_REGISTERS
    "  ld.param.u64 %count, [p];\n"
    "  mov.b64 %list, p;\n"
    "  add.u64 %list, %list, 8;\n" COPY_BODY("ld.param.u64")
    ".visible .entry copy_list(.param .u64 address, .param .u64 length)\n"
    "{\n" COPY_REGISTERS
    "  ld.param.u64 %count, [length];\n"
    "  ld.param.u64 %list, [address];\n" COPY_BODY("ld.global.u64")
    PERMUTE("permute16", "4", ".reg .b64 %a0, %a1;", "ld.global.v2.u64 {%a0, %a1}, [%from];",
            "st.global.v2.u64 [%to], {%a0, %a1};")
    PERMUTE("permute4", "2", ".reg .b32 %w;", "ld.global.u32 %w, [%from];", "st.global.u32 [%to], %w;")
    PERMUTE("permute1", "0", ".reg .b16 %b;", "ld.global.u8 %b, [%from];", "st.global.u8 [%to], %b;");

static_assert(sizeof(InlineList) == 4040, "the size of p in copy_list_inline");
static_assert(sizeof(Permutation) == 104, "the size of p in permute");
static_assert(offsetof(Permutation, sizes) == 20 && offsetof(Permutation, blockUnits) == 32 &&
                  offsetof(Permutation, sourceStrides) == 40 && offsetof(Permutation, targetStrides) == 72,
              "the offsets in permute");

}  // namespace dynamo::cuda
