// clang-format off
#if __GNUC__ > 14
#error -- unsupported GNU version! gcc versions later than 14 are not supported!
#endif
#if __clang_major__ >= 20
#error -- unsupported clang version! clang version must be less than 20 and greater than 3.2 .
#endif
