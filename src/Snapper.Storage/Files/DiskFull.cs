namespace Snapper.Storage.Files;

/// <summary>Tells "no room" from other I/O errors.</summary>
internal static class DiskFull
{
    /// <summary>Linux error number of a full file system.</summary>
    public const int NoSpace = 28;

    private const int FileTooLarge = 27;
    private const int QuotaLinux = 122;
    private const int QuotaMac = 69;
    private const int WindowsHandleDiskFull = unchecked((int)0x80070027);
    private const int WindowsDiskFull = unchecked((int)0x80070070);

    public static bool Is(IOException error) =>
        error.HResult is NoSpace or FileTooLarge or QuotaLinux or QuotaMac or WindowsHandleDiskFull or WindowsDiskFull;
}
