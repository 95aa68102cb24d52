const char *tiny_where(void);
const char *tiny_where(void)
{
    return __FILE__;
}
