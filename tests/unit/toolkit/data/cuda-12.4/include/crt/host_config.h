// clang-format off
#if __GNUC__ > 13
#error -- unsupported GNU version! gcc versions later than 13 are not supported!
#endif
#if __clang_major__ >= 18
#error -- unsupported clang version! clang version must be less than 18 and greater than 3.2 .
#endif
